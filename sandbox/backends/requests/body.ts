import { elements, members } from './json.ts';
import { invalid, type Problem } from './problem.ts';

const kindOf = (raw: string): string =>
  ({ '{': 'object', '[': 'array', '"': 'string', t: 'boolean', f: 'boolean', n: 'null' })[raw[0] ?? ''] ?? 'number';

const malformed = (): Problem => invalid('the body is not well-formed JSON');

function checked(text: string, kind: 'object' | 'array'): string {
  try {
    JSON.parse(text);
  } catch {
    throw malformed();
  }
  const trimmed = text.trim();
  if (kindOf(trimmed) !== kind) throw invalid(`the body must be a JSON ${kind}`);
  return trimmed;
}

/** A JSON object as the backends read it: raw member texts, read with a check of their kind (400). */
export interface Body {
  /** Name → raw text of the value. */
  readonly members: Map<string, string>;
  /** A string; absent and null are the same. */
  string(name: string): string | undefined;
  required(name: string): string;
  /** A whole number; absent and null are the same. */
  integer(name: string): number | undefined;
  /** The raw text of an object; absent and null are the same. */
  object(name: string): string | undefined;
}

function readMembers(raw: Map<string, string>, where: string): Body {
  const get = (name: string, kind: string): string | undefined => {
    const text = raw.get(name);
    if (text === undefined || text === 'null') return undefined;
    if (kindOf(text) !== kind) throw invalid(`${where}${name} must be of the kind ${kind}`);
    return text;
  };
  const body: Body = {
    members: raw,
    string: (name) => {
      const text = get(name, 'string');
      return text === undefined ? undefined : JSON.parse(text);
    },
    required: (name) => {
      const text = body.string(name);
      if (text === undefined || text === '') throw invalid(`${where}${name} is missing`);
      return text;
    },
    integer: (name) => {
      const text = get(name, 'number');
      if (text === undefined) return undefined;
      const value = Number(text);
      if (!Number.isInteger(value)) throw invalid(`${where}${name} must be a whole number`);
      return value;
    },
    object: (name) => get(name, 'object'),
  };
  return body;
}

/** Reads a request's body as one JSON object. */
export const readObject = (text: string): Body => readMembers(members(checked(text, 'object')), '$.');

/** Reads a request's body as an array of JSON objects. */
export function readObjects(text: string): Body[] {
  return elements(checked(text, 'array')).map((element, index) => readNested(element, `$[${index}]`));
}

/** Reads the raw text of a nested object; `path` is its JSON path. */
export function readNested(raw: string, path: string): Body {
  if (kindOf(raw) !== 'object') throw invalid(`${path} must be of the kind object`);
  return readMembers(members(raw, path), `${path}.`);
}
