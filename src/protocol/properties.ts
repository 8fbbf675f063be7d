/** The application properties of a message as text. The object has no prototype, because devices choose the names (R4; fact events.properties). */
export type Properties = Readonly<Record<string, string>>;

/** The hub's limit for the application properties of a message: bytes of UTF-8 of names and values (R7). */
export const maxPropertyBytes = 32_768;

/** Converts the typed values of AMQP devices to text, so that `2` and `"2"` are equal. Drops values without text form (R4). */
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
