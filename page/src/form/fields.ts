/** One field of a form, made from a contract. */
export interface Field {
  readonly name: string;
  readonly description: string;
  readonly isNeeded: boolean;
  /** `json`: what is written is JSON. */
  readonly type: 'text' | 'number' | 'json';
  /** The only values that it takes. */
  readonly options?: readonly string[];
  /** The only value. */
  readonly constant?: string;
  readonly usual?: string;
}

/** The part of JSON Schema that forms are made from. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

/** A schema and those that it is all of, as one. What may also be null is what it is otherwise. */
function merged(schema: Schema): Schema {
  const { allOf = [], oneOf = [], anyOf = [], ...own } = schema;
  const [only, ...others] = [...oneOf, ...anyOf].filter(({ type }) => type !== 'null');
  const chosen = only && others.length === 0 ? [only] : [];
  const all = [...[...allOf, ...chosen].map(merged), own];
  const properties = Object.assign({}, ...all.map((one) => one.properties));
  const required = all.flatMap((one) => one.required ?? []);
  return { ...Object.assign({}, ...all), properties, required };
}

/** The fields of an object; those that are needed first. Empty for what is no object. */
export function fieldsOf(schema: Schema): Field[] {
  const { properties = {}, required = [] } = merged(schema);
  const fields = Object.entries(properties).map(([name, one]) => fieldOf(name, one, required.includes(name)));
  return [...fields.filter(({ isNeeded }) => isNeeded), ...fields.filter(({ isNeeded }) => !isNeeded)];
}

function fieldOf(name: string, schema: Schema, isNeeded: boolean): Field {
  const { type, description = '', enum: options, const: constant, default: usual } = merged(schema);
  const isText = [type].flat().includes('string') || (options ?? [constant]).every((one) => typeof one === 'string');
  return {
    ...{ name, description, isNeeded },
    type: isText ? 'text' : type === 'integer' || type === 'number' ? 'number' : 'json',
    ...(type === 'boolean' ? { options: ['true', 'false'] } : options && { options: options.map(String) }),
    ...(constant !== undefined && { constant: String(constant) }),
    ...(usual !== undefined && usual !== '' && { usual: String(usual) }),
  };
}

/** The JSON text of what was written into a field. */
export function rawOf({ type }: Field, written: string): string {
  return type === 'text' ? JSON.stringify(written) : written.trim();
}

/** What stands in a field for this JSON text. */
export function writtenOf({ type }: Field, raw: string): string {
  if (type !== 'text') return raw;
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === 'string' ? value : raw;
  } catch {
    return raw;
  }
}
