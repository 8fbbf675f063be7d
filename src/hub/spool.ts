import { closeSync, ftruncateSync, mkdirSync, openSync, read, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import type { HubEvent } from '../protocol/event.ts';

/**
 * Where the messages of a device wait that sends faster than it can be served: on disk, in the order in which they came,
 * so that they take no memory and hold up nobody who comes after them. Nothing in it needs to survive: what is not
 * handled has not been checkpointed.
 */
export interface Spool {
  /** Undefined when there is no room. */
  put(event: HubEvent): Ticket | undefined;
  /** Each ticket once. */
  take(ticket: Ticket): Promise<HubEvent>;
  close(): void;
}

/** Where a message lies. */
export interface Ticket {
  readonly at: number;
  readonly length: number;
}

const readAt = promisify(read);

/**
 * @param directory of the spools; made when missing
 * @param name of the file, which is gone as soon as it is open
 */
export function openSpool(directory: string, name: string, maxBytes: number): Spool {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, name);
  const file = openSync(path, 'w+', 0o600);
  unlinkSync(path); // the file lives as long as it is open, and no crash leaves bodies behind
  let end = 0;
  let waiting = 0;

  return {
    put({ body, properties, systemProperties, sequenceNumber, offset, enqueuedTimeUtc }) {
      const bytes = serialize({ body, properties, systemProperties, sequenceNumber, offset, enqueuedTimeUtc });
      if (end + bytes.length > maxBytes) return undefined;
      writeSync(file, bytes, 0, bytes.length, end);
      const ticket = { at: end, length: bytes.length };
      end += bytes.length;
      waiting += 1;
      return ticket;
    },
    async take({ at, length }) {
      const { buffer } = await readAt(file, Buffer.allocUnsafe(length), 0, length, at);
      waiting -= 1;
      if (waiting === 0) {
        end = 0;
        ftruncateSync(file, 0);
      }
      return deserialize(buffer) as HubEvent;
    },
    close: () => closeSync(file),
  };
}
