import { quoted } from './details.ts';

/** The application properties of a message as text. The object has no prototype, because devices choose the names (R4; fact events.properties). */
export type Properties = Readonly<Record<string, string>>;

/** The hub's limit for the application properties of a message: bytes of UTF-8 of names and values (R7). */
export const maxPropertyBytes = 32_768;

/** In place of a value whose AMQP type has no text, such as `binary` (R4). */
export const textless = (type: string): symbol => Symbol(type);

/** A fault for each textless property, by its name (R4). */
export function textlessFaults(bag: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const faults = new Map<string, string>();
  for (const name of Object.keys(bag)) {
    const value = bag[name];
    if (typeof value !== 'symbol') continue;
    faults.set(name, `property ${quoted(name)} must have a text; this AMQP ${value.description} has none`);
  }
  return faults;
}

/** The properties that have a text, as text: `2` and `"2"` are equal (R4). */
export function textProperties(bag: Readonly<Record<string, unknown>>): Properties {
  const properties: Record<string, string> = Object.create(null);
  for (const name of Object.keys(bag)) {
    const text = textOf(bag[name]);
    if (text !== undefined) properties[name] = text;
  }
  return properties;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

export function propertyBytes(properties: Properties): number {
  let bytes = 0;
  for (const name in properties) bytes += Buffer.byteLength(name) + Buffer.byteLength(properties[name] as string);
  return bytes;
}
