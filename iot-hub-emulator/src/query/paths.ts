import { isObject, type Json, type JsonObject } from '../values/json.ts';
import type { Cursor } from './cursor.ts';
import { type Token, unexpected } from './tokenizer.ts';

/** What a query finds in a twin; undefined where there is nothing. */
export type Value = Json | undefined;

/** A twin, made when a query first asks for something in it. */
export type Twin = () => JsonObject;

/** A place in a twin. */
export interface Path {
  names: readonly string[];
  /** Of its first character; counts from 1. */
  position: number;
}

/** Words of the language: a property that is called so is written in brackets, `tags.[[group]]`. */
const reserved = new Set(
  'SELECT FROM WHERE GROUP ORDER BY AS AND OR NOT IN NIN TOP ASC DESC TRUE FALSE NULL UNDEFINED'.split(' '),
);

// The page writes these in different cases, and shows results in this one.
const ownNames = new Map(
  [
    ...['deviceId', 'moduleId', 'etag', 'deviceEtag', 'status', 'statusUpdateTime', 'connectionState', 'version'],
    ...['lastActivityTime', 'cloudToDeviceMessageCount', 'authenticationType', 'x509Thumbprint', 'modelId'],
    ...['tags', 'properties', 'capabilities', 'configurations', 'deviceScope', 'parentScopes'],
  ].map((name) => [name.toLowerCase(), name]),
);

/** Whether a word names a property, and is none of the language. */
const isName = ({ kind, source }: Token): boolean =>
  kind === 'name' || (kind === 'word' && !reserved.has(source.toUpperCase()));

// path = name *("." name)   name = word / "[[" any "]]"

/** Read a path. Names of the hub's own count in any case, those in tags and properties as they are written. */
export function readPath(cursor: Cursor): Path {
  const { position } = cursor.next();
  const first = readName(cursor);
  const names = [ownNames.get(first.toLowerCase()) ?? first];
  while (cursor.take('.')) names.push(readName(cursor));
  return { names, position };
}

/** Read the name of one property, or of a column. */
export function readName(cursor: Cursor): string {
  const token = cursor.next();
  if (!isName(token)) throw unexpected(token, 'a name');
  return cursor.needKind(token.kind, 'a name').value;
}

/** What a twin has at a path. */
export function valueAt({ names }: Path, twin: Twin): Value {
  let value: Value = twin();
  for (const name of names) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}
