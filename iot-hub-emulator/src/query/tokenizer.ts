import { Refusal } from '../values/refusal.ts';

/** A part of a query: a word, a name in brackets, a number, a text, a sign; at its end, an empty one. */
export interface Token {
  kind: 'word' | 'name' | 'number' | 'text' | 'sign' | 'end';
  /** As it stands in the query. */
  source: string;
  /** What it says: of a text without quotes and escapes, of a name without brackets. */
  value: string;
  /** Counts from 1. */
  position: number;
}

/** Longest query, in characters (page "Queries for IoT Hub device and module twins"). */
const longestQuery = 8192;
const longestQuote = 40;

// every alternative begins with another character, so that no character is read twice
const form =
  /\s*(?:(?<word>[\p{L}_$][\p{L}\p{N}_$]*)|(?<number>0x[\da-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)|(?<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|\[\[(?<name>[^[\]]+)\]\]|(?<sign>[<>]=|!=|<>|\S)|$)/isuy;
const kinds = ['word', 'number', 'text', 'name', 'sign'] as const;

/** The parts of a query; the last is its end. Refuses one that is too long, a text without an end, and an unknown escape. */
export function tokensOf(query: string): readonly Token[] {
  if (query.length > longestQuery) throw refused(`A query has ${longestQuery} characters at most.`);
  const tokens: Token[] = [];
  let kind: Token['kind'];
  form.lastIndex = 0;
  do {
    const match = form.exec(query);
    const [found, groups] = [match?.[0] ?? '', match?.groups ?? {}];
    kind = kinds.find((one) => groups[one] !== undefined) ?? 'end';
    const source = found.trimStart();
    const position = (match?.index ?? query.length) + found.length - source.length + 1;
    if (source === "'" || source === '"')
      throw refused(`The query has a text without an end at character ${position}.`);
    const value = kind === 'text' ? textIn(source, position) : (groups['name'] ?? source);
    tokens.push({ kind, source, value, position });
  } while (kind !== 'end');
  return tokens;
}

/** The text between the quotes. Escapes are `\'`, `\"`, `\\` and `\u` with four digits. */
function textIn(source: string, position: number): string {
  return source.slice(1, -1).replace(/\\(?:u(?<code>[\da-f]{4})|(?<one>.))/gisu, (found, code, one, at) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    if (!['"', "'", '\\'].includes(one))
      throw refused(`The query has ${JSON.stringify(found)} at character ${position + 1 + at}, which is no escape.`);
    return one;
  });
}

/** The refusal of a part that does not belong where it stands. */
export function unexpected({ source, position }: Token, wanted: string): Refusal {
  const found = source === '' ? 'ends' : `has ${JSON.stringify(source.slice(0, longestQuote))}`;
  return refused(`The query ${found} at character ${position}, where ${wanted} is expected.`);
}

/** The refusal of a query, in a sentence. */
export const refused = (sentence: string): Refusal => new Refusal('com.microsoft:argument-error', sentence);
