import { styleText } from 'node:util';
import { fold } from './fold.ts';
import type { Output } from './streams.ts';

type Style = Parameters<typeof styleText>[0];

/** Writes for a person: progress with the time since the start, and colours on a terminal. */
export interface Printer {
  /** One line of progress, with the seconds since the printer was made. */
  progress(text: string): void;
  line(text?: string): void;
  paint(style: Style, text: string): string;
}

export function createPrinter(stream: Output = process.stdout): Printer {
  const start = performance.now();
  const colours = stream.isTTY && !process.env['NO_COLOR'];
  const paint = (style: Style, text: string) => (colours ? styleText(style, text, { validateStream: false }) : text);

  return {
    progress(text) {
      const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(6);
      stream.write(`${fold(`${paint('dim', `${seconds} s`)}  ${text}`, 80, seconds.length + 4)}\n`);
    },
    line(text = '') {
      stream.write(`${text}\n`);
    },
    paint,
  };
}

/** The same printer for lines that are only read, not copied: they are folded to 80 columns. */
export const folding = (printer: Printer): Printer => ({
  ...printer,
  line: (text = '') =>
    printer.line(
      text
        .split('\n')
        .map((line) => fold(line))
        .join('\n'),
    ),
});

/** A printer that prints nothing, for tests. */
export const silent: Printer = { progress: () => {}, line: () => {}, paint: (_style, text) => text };
