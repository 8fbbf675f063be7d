import { Refusal } from '../values/refusal.ts';

/** A part of a result; with `continuation` one asks for the next. */
export interface Page<T> {
  items: T[];
  continuation: string | undefined;
}

/** Items of a page by default, and at most. */
const [usual, most] = [100, 1000] as const;

/** The page after `continuation`, of at most `count` items. Refuses texts that are not numbers in range. */
export function pageOf<T>(all: readonly T[], continuation: string | undefined, count: string | undefined): Page<T> {
  const first = continuation ? numberIn('continuation', continuation, 0) : 0;
  const next = first + Math.min(count ? numberIn('number of items', count, 1) : usual, most);
  return { items: all.slice(first, next), continuation: next < all.length ? String(next) : undefined };
}

function numberIn(what: string, text: string, least: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < least)
    throw new Refusal('com.microsoft:argument-error', `The ${what} of a query is a whole number from ${least} on.`);
  return Number(text);
}
