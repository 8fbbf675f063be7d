/** The forms of single values (P1, P2, P5, GUIDs). */

const guidForm = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const controls = /\p{Cc}/u;

export const isGuid = (value: unknown): value is string => typeof value === 'string' && guidForm.test(value);

/** P5: 1 to 256 characters, none of / \ ? # % and no control characters; not `.`, not beginning with `..`. */
export const isModelId = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length >= 1 &&
  value.length <= 256 &&
  !/[/\\?#%]/.test(value) &&
  !controls.test(value) &&
  value !== '.' &&
  !value.startsWith('..');

/** A type identifier, `@` and one to three numbers optional. */
export function typeOf(value: unknown): { id: string; version: string | undefined } | undefined {
  if (typeof value !== 'string') return undefined;
  const [id = '', version, ...more] = value.split('@');
  if (more.length > 0 || !isModelId(id)) return undefined;
  return version === undefined || /^\d+(\.\d+\.\d+)?$/.test(version) ? { id, version } : undefined;
}

/** P5: names joined by `/`; the empty path is the device itself. */
export const isPath = (value: string): boolean =>
  value === '' || value.split('/').every((name) => !['', '.', '..'].includes(name) && !controls.test(name));

export const hasControls = (value: string): boolean => controls.test(value);

/** P2: whole seconds, at most 900. */
export const isTimeout = (value: string): boolean => /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= 900;

const asks: Readonly<Record<string, string>> = {
  '': 'none',
  none: 'none',
  positive: 'positive',
  negative: 'negative',
  all: 'all',
  full: 'all',
};

/** P1: undefined when it is none of those. */
export const ackOf = (value: string): string | undefined =>
  Object.hasOwn(asks, value.toLowerCase()) ? asks[value.toLowerCase()] : undefined;

/** C1: the system property that a correlation id can be. */
export const systemId = (id: string | undefined): string | undefined =>
  id !== undefined && /^[\x20-\x7e]{1,128}$/.test(id) ? id : undefined;
