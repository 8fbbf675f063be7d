import { hash, randomFillSync } from 'node:crypto';
import { hexValues } from './jsonReader.ts';

const variants = '89ab';
const namespaceBytes = 16;
const dash = 0x2d;

/** The UUID of a name in a namespace, itself a UUID (RFC 9562, version 5): SHA-1 over its 16 bytes and the name in UTF-8. */
export function uuidv5(name: string, namespace: string): string {
  const bytes = Buffer.allocUnsafe(namespaceBytes + Buffer.byteLength(name));
  writeUuid(bytes, 0, namespace);
  bytes.write(name, namespaceBytes);
  const digest = hash('sha1', bytes, 'hex');
  const variant = variants[Number.parseInt(digest.charAt(16), 16) & 3];
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}

/** The 16 bytes of a UUID, digit by digit: a copy without the dashes would cost as much as the rest. @returns their end */
export function writeUuid(bytes: Buffer, start: number, uuid: string): number {
  const end = start + namespaceBytes;
  let at = 0;
  for (let index = start; index < end; index += 1) {
    if (uuid.charCodeAt(at) === dash) at += 1;
    const high = hexValues[uuid.charCodeAt(at)] ?? 255;
    const low = hexValues[uuid.charCodeAt(at + 1)] ?? 255;
    if (high > 15 || low > 15) throw notUuid();
    bytes[index] = (high << 4) | low;
    at += 2;
  }
  if (at !== uuid.length) throw notUuid();
  return end;
}

const notUuid = () => new Error('the namespace is not a UUID');

/** A place in a trace: 32 and 16 hexadecimal digits. */
export type TraceContext = Readonly<Record<'traceId' | 'spanId', string>>;

/** W3C trace context: version 00, trace id, parent id, flags. Ids of zeros only are invalid. */
const traceparentForm = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}$/;

/** The place that a `traceparent` names, without its sampling flag; undefined when it is absent or invalid. */
export function traceContextOf(traceparent: string | undefined): TraceContext | undefined {
  if (traceparent?.length !== 55) return undefined;
  const [, traceId, spanId] = traceparentForm.exec(traceparent) ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}

/** The trace id of an event without one: the same for each delivery, as all derived ids are. @param id a UUID */
export const derivedTraceId = (id: string): string =>
  id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);

/** Random bytes for the next span ids: a call of the generator costs as much as thirty ids. */
const random = Buffer.alloc(2_048);
let used = random.length;
const spanIdBytes = 8;

function newSpanId(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += spanIdBytes;
  return random.toString('hex', used - spanIdBytes, used);
}

/** The `traceparent` of one more piece of work in a trace. The sender of the message does not decide about sampling. */
export const newTraceparent = (traceId: string, spanId = newSpanId(), isSampled = true): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
