import { isDeepStrictEqual } from 'node:util';

/** Says what a value must be when more than one value is right. */
export interface Rule {
  readonly rule: string;
  fits(value: unknown): boolean;
}

export type Due = unknown;

export const rule = (text: string, fits: (value: unknown) => boolean): Rule => ({ rule: text, fits });

const isRule = (due: Due): due is Rule => typeof due === 'object' && due !== null && 'rule' in due && 'fits' in due;

/** In words, every member of a record that is missing, too much, or another than the one that is due. */
export function differences(
  what: string,
  seen: Readonly<Record<string, unknown>>,
  due: Readonly<Record<string, Due>>,
): string[] {
  const names = new Set([...Object.keys(seen), ...Object.keys(due)]);
  return [...names].flatMap((name) => {
    const [is, should] = [seen[name], due[name]];
    const fits = isRule(should) ? should.fits(is) : isDeepStrictEqual(is, should);
    return fits ? [] : [`${what} ${name} is ${textOf(is)} instead of ${textOf(should)}`];
  });
}

const textOf = (value: unknown): string =>
  isRule(value) ? value.rule : value === undefined ? 'absent' : JSON.stringify(value).slice(0, 200);
