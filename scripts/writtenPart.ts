import { Document, visit } from 'yaml';

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

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

export const code = (text: string): string => `\`${text}\``;

/** A contract as YAML; a list or object that fits on a line stands on one. */
export function contractPage(source: string, contract: object): string {
  const document = new Document(contract, { aliasDuplicateObjects: false });
  visit(document, {
    Collection(_, node, path) {
      const text = JSON.stringify(node);
      if (text.length + 2 * path.length <= 110 && !text.includes('\\n')) node.flow = true;
    },
  });
  return `# Written by \`npm run docs\` from ${source}.\n${document.toString({ lineWidth: 120, blockQuote: 'literal' })}`;
}
