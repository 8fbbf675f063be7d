import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type ReceivedMessage, textProperties } from '../protocol/event.ts';
import { jsonValue } from '../protocol/json.ts';

/** A message, and how often it has been parked before. */
export type ParkableMessage = Omit<ReceivedMessage, 'redelivered'>;

/** A message that failed because of the service or a backend, with all data to handle it again (G4). */
export interface DeadLetter extends ParkableMessage {
  readonly code: string;
  readonly details: string;
  readonly parkedAt: Date;
  readonly attempts: number;
  readonly traceparent: string;
}

export interface LetterInfo {
  readonly id: string;
  readonly bytes: number;
  /** Time of writing, in milliseconds since 1970. */
  readonly at: number;
}

/** Storage for dead letters: texts by id, without limits. All verbs reject when the storage cannot be reached. */
export interface LetterStorage {
  /** In any order. There may be other files or blobs: check with `isLetterId`. */
  entries(folder?: string): Promise<LetterInfo[]>;
  /** Undefined when it does not exist. @throws UnreadableDeadLetter when it is longer than any dead letter */
  read(id: string): Promise<string | undefined>;
  /** Atomic; replaces an existing text. */
  write(id: string, text: string): Promise<void>;
  /** No error when it does not exist. */
  remove(id: string): Promise<void>;
}

/** More than a message of the hub's greatest size takes, however it is escaped. */
export const mostLetterBytes = 8 * 1024 * 1024;

/** What is stored is no dead letter, or an incomplete one. The message does not quote it (G5). */
export class UnreadableDeadLetter extends Error {
  override readonly name = 'UnreadableDeadLetter';
}

/*
 * id = <folder of the device> "/" <enqueued, 15 digits> "-" <partition> "-" <sequence number, 16 digits>
 *
 * The folder name is a hash, because a device id may be any string. Names in a folder sort in the order of the hub. A
 * message always has the same id: if it is parked again, it replaces its dead letter.
 */

export const folderOf = (deviceId: string): string => createHash('sha256').update(deviceId).digest('hex').slice(0, 32);

export const idOf = ({ deviceId, event, origin }: Pick<DeadLetter, 'deviceId' | 'event' | 'origin'>): string => {
  const enqueued = String(event.enqueuedTimeUtc.getTime()).padStart(15, '0');
  return `${folderOf(deviceId)}/${enqueued}-${origin.partition}-${String(event.sequenceNumber).padStart(16, '0')}`;
};

export const isLetterId = (id: string): boolean => /^[0-9a-f]{32}\/\d{15}-[\w$-]+-\d{16}$/.test(id);

export const folderOfId = (id: string): string => id.slice(0, 32);

/** Partitions may have a `-` in their names. */
export const partitionOfId = (id: string): string => id.slice(49, -17);

const format = 1;

export function print({ event, ...letter }: DeadLetter): string {
  const { body, properties = {}, systemProperties = {} } = event;
  const bytes = body instanceof Uint8Array ? Buffer.from(body).toString('base64') : undefined;
  const written = {
    format,
    ...letter,
    event: {
      ...event,
      properties: textProperties(properties),
      systemProperties: textProperties(systemProperties),
      body: bytes ?? body,
      isText: bytes === undefined,
    },
  };
  return JSON.stringify(written, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
}

/** Not `z.record`, which drops the key `__proto__`: devices choose the keys. */
const bag = z.custom<Readonly<Record<string, string>>>(
  (value) =>
    typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string'),
);
const time = z.iso.datetime().transform((text) => new Date(text));

const letterFormat = z.object({
  format: z.literal(format),
  deviceId: z.string(),
  generation: z.enum(['V1', 'V2']),
  origin: z.object({ hub: z.string(), partition: z.string() }),
  code: z.string(),
  details: z.string(),
  parkedAt: time,
  attempts: z.int().positive(),
  traceparent: z.string(),
  event: z.object({
    properties: bag,
    systemProperties: bag,
    sequenceNumber: z.int(),
    offset: z.string(),
    enqueuedTimeUtc: time,
    body: z.unknown().optional(),
    isText: z.boolean(),
  }),
});

/** @param id of the file or blob: a letter of another id could not be deleted after its replay. @throws UnreadableDeadLetter */
export function parse(text: string, id: string): DeadLetter {
  const { success, data } = letterFormat.safeParse(jsonValue(text));
  if (!success) throw new UnreadableDeadLetter(`${id} is no dead letter of format ${format}`);
  const { format: _, event, ...letter } = data;
  const { isText, body, ...rest } = event;
  const found = { ...letter, event: { ...rest, body: isText ? body : Buffer.from(String(body), 'base64') } };
  if (idOf(found) !== id) throw new UnreadableDeadLetter(`${id} is the dead letter of another message, ${idOf(found)}`);
  return found;
}
