import { refused } from './tokenizer.ts';

/** A part of a result; with `continuation` one asks for the next. */
export interface Page<T> {
  items: T[];
  continuation: string | undefined;
}

/** Where a page begins, and how many items it has at most. */
export interface PageRange {
  first: number;
  size: number;
}

/** Items of a page by default, and at most. */
const [usual, most] = [100, 1000] as const;

/** The page after `continuation`, of at most `count` items (D80). Refuses texts that are not numbers in range. */
export function rangeOf(continuation: string | undefined, count: string | undefined): PageRange {
  return {
    first: continuation ? numberIn('continuation', continuation, 0) : 0,
    size: Math.min(count ? numberIn('number of items', count, 1) : usual, most),
  };
}

/** The items of a page, of all that there are. */
export function pageOf<T>(all: readonly T[], { first, size }: PageRange): Page<T> {
  const next = first + size;
  return { items: all.slice(first, next), continuation: next < all.length ? String(next) : undefined };
}

function numberIn(what: string, text: string, least: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < least)
    throw refused(`The ${what} of a query is a whole number from ${least} on.`);
  return Number(text);
}
