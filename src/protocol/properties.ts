/** The application properties of a message as text, without a prototype: a device chooses the names (R4). */
export type Properties = Readonly<Record<string, string>>;

/** What the hub allows the application properties of one message to take, in bytes of UTF-8, names and values (R7). */
export const maxPropertyBytes = 32_768;

/** Typed values of AMQP devices become text: `2` and `"2"` are the same. Values that have no text form are left out (R4). */
export function textProperties(bag: Readonly<Record<string, unknown>>): Properties {
  const properties: Record<string, string> = Object.create(null);
  for (const name of Object.keys(bag)) {
    const text = textOf(bag[name]);
    if (text !== undefined) properties[name] = text;
  }
  return properties;
}

function textOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value instanceof Date ? value.toISOString() : undefined;
  }
}

export function propertyBytes(properties: Properties): number {
  let bytes = 0;
  for (const name in properties) bytes += Buffer.byteLength(name) + Buffer.byteLength(properties[name] as string);
  return bytes;
}
