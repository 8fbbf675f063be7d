import { codesIn, readPage, tableOf } from '../../docs/markdown.ts';

// The table of questions of docs/operations.md: what it tells an operator to type.

/** What a row says to ask, as it stands there: a command, or a query in PromQL. */
export type Ask = Readonly<{ kind: 'command' | 'query'; text: string }>;

export interface Row {
  readonly question: string;
  /** In the order of the row, with those in the description of what is printed. */
  readonly asks: readonly Ask[];
}

const page = readPage('operations.md');

const stands = page.split('\n').find((line) => line.startsWith('`admin` stands for ')) ?? '';

/** What the short names of commands stand for. */
export const shortNames: ReadonlyMap<string, string> = new Map(
  [...stands.matchAll(/`(\w+)` (?:stands )?for `([^`]+)`/g)].map(([, name = '', command = '']) => [name, command]),
);

function askOf(text: string): Ask | undefined {
  const [word = ''] = text.split(' ');
  if (word === 'docker' || shortNames.has(word)) return { kind: 'command', text };
  if (/\b(device_messaging|http_client|http_server)_\w+|\btarget_info\b/.test(text)) return { kind: 'query', text };
  return undefined;
}

const asksIn = (cell = '') =>
  codesIn(cell).map((code) => {
    const text = code.replaceAll('\\|', '|');
    return { text, ask: askOf(text) };
  });

/** @throws Error at a row that asks nothing, or something that is neither a command nor a query */
export const tableRows = (): readonly Row[] =>
  tableOf(page, 'symptom').map(({ question = '', ask: first, 'what it prints': printed }) => {
    const asked = asksIn(first);
    const strange = asked.filter(({ ask }) => ask === undefined).map(({ text }) => text);
    if (asked.length === 0 || strange.length > 0) throw new Error(`nothing to ask for “${question}”: ${strange}`);
    return { question, asks: [...asked, ...asksIn(printed)].flatMap(({ ask }) => ask ?? []) };
  });
