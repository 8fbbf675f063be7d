import { z } from 'zod';

/** Formats of the values that the service itself reads, in headers and in bodies. Each error is the end of a sentence. */

const required = (otherwise: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is required' : otherwise;

/** Any text that is not empty: a name, a correlation id. */
export const text = z.string({ error: required('must be text') }).min(1, 'must not be empty');

/** One name of an identity, never split: it may contain anything that can be sent (P5). */
export const identityName = text.refine((value) => value.isWellFormed(), 'must be Unicode text');

/** A body of which these members are checked; others are the backend's business. */
export const jsonObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape, { error: 'must be a JSON object' });

export const integer = z
  .number({ error: required('must be an integer') })
  .refine(Number.isInteger, 'must be an integer');

const guidForm = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

export const isGuid = (value: unknown): value is string => typeof value === 'string' && guidForm.test(value);

export const guid = z.string({ error: required('must be a GUID') }).regex(guidForm, 'must be a GUID');

/**
 * A model or type identifier: any name that stays one segment of a URL path even behind a proxy that decodes too
 * much (D1). Case sensitive.
 */
const identifier = String.raw`(?!\.{1,2}(?:@|$))[^\p{Cc}\p{Cs}\s/\\?#%@]{1,256}`;
const identifierForm = new RegExp(`^${identifier}$`, 'u');
const typeRefForm = new RegExp(String.raw`^(${identifier})(?:@(\d{1,9}(?:\.\d{1,9}\.\d{1,9})?))?$`, 'u');

export const modelId = z
  .string({ error: required('must be a model definition identifier') })
  .regex(identifierForm, 'must be a model definition identifier: no spaces, control characters or any of / \\ ? # % @');

export const defaultModel = 'svc.device';

/** `typeId`, `typeId@major` or `typeId@major.minor.patch`. */
export const typeRef = z
  .string({ error: required('must be a type reference') })
  .regex(typeRefForm, 'must be a type identifier, optionally with @ and a version');

export interface TypeRef {
  readonly typeId: string;
  /** A major or a full version. */
  readonly version: string | undefined;
}

export function parseTypeRef(value: unknown): TypeRef | undefined {
  const [, typeId, version] = (typeof value === 'string' && typeRefForm.exec(value)) || [];
  return typeId === undefined ? undefined : { typeId, version };
}

const segment = String.raw`(?!\.{1,2}(?:/|$))[^\p{Cc}\p{Cs}/]+`;

/** A connectivity path, relative to the directly connected device; the empty path is the device itself (P5). */
export const path = z
  .string({ error: required('must be text') })
  .regex(
    new RegExp(`^(?:${segment}(?:/${segment})*)?$`, 'u'),
    'must be identity names joined by /, without empty, . or .. names or control characters',
  );

/** One sentence for everything that is wrong: `objectId must be a GUID; owner must be text`. */
export function faultsOf(error: z.ZodError, what: 'property' | 'body'): string {
  return error.issues
    .map(({ path, message }) => {
      const where = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
      if (where === '') return `${what} ${message}`;
      return what === 'body' ? `body${where} ${message}` : `property ${where.slice(1)} ${message}`;
    })
    .join('; ');
}
