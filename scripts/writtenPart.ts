/** The lines around a part of a page that `npm run docs` writes. */
export const beginOf = (name: string) => `<!-- ${name}: written by \`npm run docs\` -->`;
export const endOf = (name: string) => `<!-- /${name} -->`;

/**
 * The page with another text between these lines.
 * @throws Error when it lacks them
 */
export function withText(page: string, name: string, text: string): string {
  const [before, rest] = page.split(beginOf(name));
  const [, after] = rest?.split(endOf(name)) ?? [];
  if (after === undefined) throw new Error(`a page lacks the lines ${beginOf(name)} and ${endOf(name)}`);
  return `${before}${beginOf(name)}\n\n${text}\n\n${endOf(name)}${after}`;
}

export const withTexts = (page: string, texts: Readonly<Record<string, string>>): string =>
  Object.entries(texts).reduce((text, [name, part]) => withText(text, name, part), page);
