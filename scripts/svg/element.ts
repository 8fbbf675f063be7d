type Attributes = Readonly<Record<string, string | number>>;

/** Text as it may stand in an element or an attribute. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`).replace(/[^\P{Cc}\n\t]/gu, '');

/** @param content elements; text must be escaped */
export function element(name: string, attributes: Attributes, ...content: readonly string[]): string {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${typeof value === 'number' ? rounded(value) : escaped(value)}"`,
  );
  const start = `<${name}${written.join('')}`;
  return content.length === 0 ? `${start}/>` : `${start}>${content.join('')}</${name}>`;
}

/** To a tenth of a pixel. */
export const rounded = (value: number): string => String(Math.round(value * 10) / 10);
