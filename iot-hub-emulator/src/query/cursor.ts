import { refused, type Token, tokensOf, unexpected } from './tokenizer.ts';

/** Goes through a query, part by part. */
export interface Cursor {
  /** The part that comes next. */
  next(): Token;
  /** Whether one of these words, in any case, or signs comes next. */
  sees(...wanted: readonly string[]): boolean;
  /** Pass one of these words or signs, if it comes next. */
  take(...wanted: readonly string[]): Token | undefined;
  /** Pass this word or sign. Refuses any other. */
  need(wanted: string): Token;
  /** Pass a part of this kind. Refuses any other, which `wanted` names. */
  needKind(kind: Token['kind'], wanted: string): Token;
  /** Read something that can hold itself, in brackets for example. Refuses what is nested too deep. */
  nested<T>(read: () => T): T;
}

/** A query of 8,192 brackets must not exhaust the stack. */
const deepest = 100;

/** At the beginning of a query. Refuses one that is too long, or has a text that is none. */
export function createCursor(query: string): Cursor {
  const tokens = tokensOf(query);
  let at = 0;
  let depth = 0;
  const next = (): Token => tokens[at] as Token;
  const isOne = ({ kind, source }: Token, wanted: readonly string[]): boolean =>
    (kind === 'word' || kind === 'sign') && wanted.includes(source.toUpperCase());
  const pass = (): Token => {
    const token = next();
    if (token.kind !== 'end') at += 1;
    return token;
  };

  return {
    next,
    sees: (...wanted) => isOne(next(), wanted),
    take: (...wanted) => (isOne(next(), wanted) ? pass() : undefined),
    need(wanted) {
      if (!isOne(next(), [wanted])) throw unexpected(next(), wanted);
      return pass();
    },
    needKind(kind, wanted) {
      if (next().kind !== kind) throw unexpected(next(), wanted);
      return pass();
    },
    nested(read) {
      depth += 1;
      if (depth > deepest)
        throw refused(`The query is nested more than ${deepest} deep at character ${next().position}.`);
      const result = read();
      depth -= 1;
      return result;
    },
  };
}
