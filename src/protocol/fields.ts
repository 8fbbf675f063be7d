import { z } from 'zod';

/** Formats of the values that the service reads from headers and bodies. Errors continue a sentence that begins with the name. */

const required = (otherwise: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is required' : otherwise;

/** Non-empty text: a name, a correlation id. */
export const text = z.string({ error: required('must be text') }).min(1, 'must not be empty');

/** One name of an identity; it may contain any characters (P5). */
export const identityName = text.refine((value) => value.isWellFormed(), 'must be Unicode text');

/** A body; only these members are checked, the backend checks the others. */
export const jsonObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape, { error: 'must be a JSON object' });

/** An optional member; null means the same as absent. */
export const absentWhenNull = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

export const integer = z
  .number({ error: required('must be an integer') })
  .refine(Number.isInteger, 'must be an integer');

/** The same in an acknowledgement, as bigint. For types and documents only; nothing is parsed with it. */
export const exactInteger = integer as unknown as z.ZodType<bigint>;

/** The exact integer of a JSON text; undefined when it is no integer or has more than 40 digits. */
export function integerIn(text: string): bigint | undefined {
  if (/^-?\d{1,40}$/.test(text)) return BigInt(text);
  const value = /^-?\d/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? BigInt(value) : undefined; // 4.0 is 4
}

const guidForm = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

export const isGuid = (value: unknown): value is string => typeof value === 'string' && guidForm.test(value);

/** GUIDs are equal whatever the case of their letters, in which backends may differ (contracts of the backends). */
export const isSameId = (one: unknown, other: unknown): boolean =>
  one === other || (isGuid(one) && isGuid(other) && one.toLowerCase() === other.toLowerCase());

export const guid = z.string({ error: required('must be a GUID') }).regex(guidForm, 'must be a GUID');

/** Text that stays one segment of a URL path even if a proxy decodes it twice (D1). */
const segmentForm = /^(?!\.\.|\.$)[^\p{Cc}\p{Cs}/\\?#%]+$/u;

/** Whether an id of a device or a backend may become a segment of a path (P5, D1). */
export const isSegment = (id: string): boolean => segmentForm.test(id);

/** A model definition identifier: case-sensitive, may contain spaces (P5). */
export const modelId = z
  .string({ error: required('must be a model definition identifier') })
  .regex(
    /^(?!\.\.|\.$)[^\p{Cc}\p{Cs}/\\?#%]{1,256}$/u,
    'must be a model definition identifier: 1 to 256 characters, no control characters or any of / \\ ? # %, neither . nor beginning with ..',
  );

export const isModelId = (value: unknown): value is string => modelId.safeParse(value).success;

/** A type identifier has no `@`, which separates the version (P5). */
const typeId = String.raw`(?!\.\.|\.(?:@|$))[^\p{Cc}\p{Cs}/\\?#%@]{1,256}`;
const fullVersion = String.raw`\d{1,9}\.\d{1,9}\.\d{1,9}`;
const typeRefForm = new RegExp(String.raw`^(${typeId})(?:@(\d{1,9}|${fullVersion}))?$`, 'u');

export const defaultModel = 'svc.device';

/** `typeId`, `typeId@major` or `typeId@major.minor.patch`. */
export const typeRef = z
  .string({ error: required('must be a type reference') })
  .regex(typeRefForm, 'must be a type identifier, optionally with @ and a version');

export type TypeRef = { readonly typeId: string; readonly version: string | undefined };

export function parseTypeRef(value: unknown): TypeRef | undefined {
  const [, typeId, version] = (typeof value === 'string' && typeRefForm.exec(value)) || [];
  return typeId === undefined ? undefined : { typeId, version };
}

/** The path of the receiver of replies. It is only copied, so that only its characters are checked (P5). */
export const target = z.string().regex(/^\P{Cc}*$/u, 'must not have control characters');

const segment = String.raw`(?!\.{1,2}(?:/|$))[^\p{Cc}\p{Cs}/]+`;

/** A connectivity path, relative to the directly connected device; empty for the device itself (P5). */
export const path = z
  .string({ error: required('must be text') })
  .regex(
    new RegExp(`^(?:${segment}(?:/${segment})*)?$`, 'u'),
    'must be identity names joined by /, without empty, . or .. names or control characters',
  );

/** A text for each fault: `property objectId must be a GUID`, `body.parent must be an object`. */
export const faultsOf = ({ issues }: Pick<z.ZodError, 'issues'>, what: 'property' | 'body'): string[] =>
  issues.map(({ path, message }) => {
    const where = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
    if (where === '') return `${what} ${message}`;
    return what === 'body' ? `body${where} ${message}` : `property ${where.slice(1)} ${message}`;
  });
