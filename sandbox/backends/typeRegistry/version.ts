import { invalid } from '../requests/problem.ts';

/** A version of a type: major, minor, patch. */
export type Version = readonly [number, number, number];

const NUMBER = '(0|[1-9]\\d{0,8})';
const FULL = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}$`);
const MAJOR = new RegExp(`^${NUMBER}$`);

/** Three dot-separated numbers; `undefined` for any other text. */
export function parseVersion(text: string): Version | undefined {
  const [, major, minor, patch] = FULL.exec(text) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

/** Negative when `a` comes before `b`: by number, not by text. */
export const compareVersions = (a: Version, b: Version): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

/** Which version of a type is meant: this one, the latest of a major, or the latest. */
export type Selector = { readonly exact: Version } | { readonly major: number } | 'latest';

/** Reads `1` or `1.2.3`; `undefined` for any other text. */
export function parseSelector(text: string): Selector | undefined {
  const exact = parseVersion(text);
  if (exact) return { exact };
  return MAJOR.test(text) ? { major: Number(text) } : undefined;
}

/** A reference to a type: `pump`, `pump@1` or `pump@1.2.3`. */
export interface TypeRef {
  readonly typeId: string;
  readonly selector: Selector;
}

/** Reads a type reference; `undefined` for any other text. */
export function readTypeRef(text: string): TypeRef | undefined {
  const at = text.indexOf('@');
  const typeId = at < 0 ? text : text.slice(0, at);
  const selector = at < 0 ? 'latest' : parseSelector(text.slice(at + 1));
  return typeId === '' || selector === undefined ? undefined : { typeId, selector };
}

/** As `readTypeRef`; any other text is refused (400), `where` names its place. */
export function parseTypeRef(text: string, where: string): TypeRef {
  const ref = readTypeRef(text);
  if (!ref) throw invalid(`${where} must be a type id, optionally followed by @ and a major or full version`);
  return ref;
}
