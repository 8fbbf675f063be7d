import type { HubEvent } from './event.ts';

/**
 * The event without what the client keeps beside it: its own object has all a second time, and its body is a slice of the
 * chunk that it read from the socket, up to 64 KiB of other events. A body of less than half of its chunk is copied.
 */
export const compactEvent = ({
  body,
  properties,
  systemProperties,
  sequenceNumber,
  offset,
  enqueuedTimeUtc,
}: HubEvent): HubEvent => ({
  body: body instanceof Uint8Array && 2 * body.byteLength < body.buffer.byteLength ? copyOf(body) : body,
  ...(properties && { properties }),
  ...(systemProperties && { systemProperties }),
  sequenceNumber,
  offset,
  enqueuedTimeUtc,
});

/** Not in the pool of Node, of which it would keep 8 KiB. */
function copyOf(body: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(body.byteLength);
  copy.set(body);
  return copy;
}

/** Of a message that waits, without its values: its event, and its places in a lane and in the watermark. */
const bareBytes = 400;

/** Memory that a message takes while it waits to begin, in bytes, about. */
export const memoryWhileWaiting = ({ body, properties, systemProperties }: HubEvent): number =>
  bareBytes + memoryOf([body, properties, systemProperties]);

/** A text, an array, an object, or a view of bytes: without what is in it. */
const valueBytes = 40;
/** The place of a value in an array or an object. */
const slotBytes = 8;
/** Of a text; those that are all Latin-1 take half of it. */
const perCharacter = 2;

/**
 * Memory of a value that AMQP has decoded, in bytes, about.
 * @param chunks those that are counted already: a slice keeps the whole chunk of which it is a part
 */
export function memoryOf(value: unknown, chunks = new Set<ArrayBufferLike>()): number {
  if (typeof value === 'string') return valueBytes + perCharacter * value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = valueBytes;
  if (value instanceof Uint8Array) {
    if (!chunks.has(value.buffer)) bytes += value.buffer.byteLength;
    chunks.add(value.buffer);
  } else if (Array.isArray(value)) {
    for (const one of value) bytes += slotBytes + memoryOf(one, chunks);
  } else {
    const bag = value as Readonly<Record<string, unknown>>;
    for (const name in bag) bytes += slotBytes + perCharacter * name.length + memoryOf(bag[name], chunks);
  }
  return bytes;
}
