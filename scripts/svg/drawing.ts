import { element, escaped } from './element.ts';
import { style } from './style.ts';

interface Sheet {
  readonly title: string;
  /** Where the title begins. */
  readonly titleAt: number;
  readonly width: number;
  readonly height: number;
}

/** A whole SVG file: paper, title and what is drawn on it. */
export function drawing({ title, titleAt, width, height }: Sheet, parts: readonly string[]): string {
  const head = { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, role: 'img' };
  const all = [
    `<title>${escaped(title)}</title>`,
    `<style>${style}</style>`,
    element('rect', { class: 'paper', width, height }),
    element('text', { class: 'title', x: titleAt, y: 24 }, escaped(title)),
    ...parts,
  ];
  return `${element('svg', { ...head, 'font-family': 'system-ui, sans-serif' }, `\n${all.join('\n')}\n`)}\n`;
}

export const label = (text: string, x: number, y: number, anchor: 'start' | 'middle' | 'end', kind = ''): string =>
  element('text', { class: `text ${kind}`.trim(), x, y, 'text-anchor': anchor }, escaped(text));
