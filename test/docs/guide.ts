import { codesIn } from './markdown.ts';

/** The chapters of the guide about messages, by their names. */
export const chaptersOf = (page: string): ReadonlyMap<string, string> =>
  new Map(
    page.split(/^(?=##+ )/m).flatMap((text) => {
      const name = /^### `([\w.]+)`$/m.exec(text)?.[1];
      return name === undefined ? [] : [[name, text] as const];
    }),
  );

/** Every JSON block of a page. */
export const jsonBlocks = (page: string): string[] =>
  [...page.matchAll(/^```json\n([^`]*)```$/gm)].map(([, json = '']) => json);

const familyOf = (name: string): string => name.split('.').slice(0, -1).join('.');

/** What is mentioned that is named like messages, from the service or to it. */
export function messageNamesIn(page: string, names: readonly string[]): string[] {
  const families = new Set(names.map(familyOf));
  return codesIn(page).filter((code) => families.has(familyOf(code)));
}
