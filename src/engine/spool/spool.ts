import { closeSync, ftruncateSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { HubEvent } from '../../protocol/event.ts';
import { makeDirectory } from '../../storage/makeDirectory.ts';
import { createBlockReader } from './blockReader.ts';

/**
 * Stores on disk the messages of devices that send faster than they are served, so that these take no memory and do not
 * delay other devices. It need not survive a crash: the checkpoint does not count these messages as done.
 */
export interface Spool {
  /** Undefined when there is no room. */
  put(event: HubEvent): Ticket | undefined;
  /**
   * Reads a message and frees its room. To be called once for each ticket.
   * @throws Error when it cannot be read, and when the spool is closed
   */
  take(ticket: Ticket): HubEvent | Promise<HubEvent>;
  /** Messages that wait, and their bytes on disk. */
  taken(): { readonly messages: number; readonly bytes: number };
  close(): void;
}

/** The place of a message in the file. */
export interface Ticket {
  readonly segment: number;
  /** In bytes, from the beginning of the file. */
  readonly at: number;
  readonly length: number;
}

export interface SpoolLimits {
  /** On disk. */
  readonly maxBytes: number;
  /** Each takes a few hundred bytes in memory as well. */
  readonly maxMessages: number;
}

/** Room is allocated and freed in segments, so that some can be used again while other messages still wait. */
const segmentBytes = 1024 * 1024;

/**
 * @param directory of the spools; created when missing
 * @param name of the file, which is unlinked as soon as it is open
 */
export function openSpool(directory: string, name: string, { maxBytes, maxMessages }: SpoolLimits): Spool {
  makeDirectory(directory);
  const path = join(directory, name);
  const file = openSync(path, 'w+', 0o600);
  unlinkSync(path); // it exists while it is open, so a crash leaves no bodies behind
  const blocks = createBlockReader(file);
  const size = Math.min(segmentBytes, maxBytes);
  const most = Math.floor(maxBytes / size);
  /** Messages that wait in each segment. */
  const inside: number[] = [];
  const free: number[] = [];
  let waiting = 0;
  let waitingBytes = 0;
  let current: number | undefined;
  let end = 0;
  let isOpen = true;

  function leave({ segment, length }: Ticket) {
    const left = (inside[segment] ?? 0) - 1;
    inside[segment] = left;
    waiting -= 1;
    waitingBytes -= length;
    if (waiting === 0) {
      if (inside.length > 1) ftruncateSync(file, 0);
      inside.length = 0;
      free.length = 0;
      current = undefined;
    } else if (left === 0 && segment !== current) free.push(segment);
  }

  function taken(ticket: Ticket, bytes: Buffer): HubEvent {
    if (!isOpen) throw new Error('the spool is closed');
    leave(ticket);
    return deserialize(bytes) as HubEvent;
  }

  return {
    put({ body, properties, systemProperties, sequenceNumber, offset, enqueuedTimeUtc }) {
      const bytes = serialize({ body, properties, systemProperties, sequenceNumber, offset, enqueuedTimeUtc });
      const { length } = bytes;
      if (length > size || waiting === maxMessages) return undefined;
      if (current !== undefined && inside[current] === 0) end = 0;
      if (current === undefined || end + length > size) {
        const next = free.pop() ?? (inside.length < most ? inside.push(0) - 1 : undefined);
        if (next === undefined) return undefined;
        current = next;
        end = 0;
      }
      const ticket = { segment: current, at: current * size + end, length };
      blocks.writing(ticket.at, length);
      writeSync(file, bytes, 0, length, ticket.at);
      end += length;
      inside[current] = (inside[current] ?? 0) + 1;
      waiting += 1;
      waitingBytes += length;
      return ticket;
    },
    take(ticket) {
      if (!isOpen) throw new Error('the spool is closed');
      const bytes = blocks.read(ticket.at, ticket.length);
      return bytes instanceof Promise ? bytes.then((read) => taken(ticket, read)) : taken(ticket, bytes);
    },
    taken: () => ({ messages: waiting, bytes: waitingBytes }),
    close() {
      isOpen = false;
      closeSync(file);
    },
  };
}
