import { Document, visit } from 'yaml';

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
