import { within } from '../../concurrency/within.ts';
import type { LogText } from '../../log/events.ts';
import type { HubEvent } from '../../protocol/event.ts';
import type { Capacity } from '../budget/capacity.ts';
import type { Spool, Ticket } from './spool.ts';

/** The longest that the spool may take to read a message. */
const spoolAnswersMs = 20_000;

/** Stores messages that wait to begin: a few in memory, the others in the spool (D27). The lanes keep their order. */
export interface Backlog<A> {
  /** Undefined when there is no room. */
  inMemory(arrival: A): StoredMessage<A> | undefined;
  /** Undefined when there is no room, on a full disk too. */
  onDisk(arrival: A): StoredMessage<A> | undefined;
  /**
   * Returns a message and frees its room. To be called once for each.
   * @throws when the spool cannot be read
   */
  fetch(kept: StoredMessage<A>): A | HubEvent | Promise<HubEvent>;
  /** Frees the room of all messages in memory. */
  clear(): void;
}

export type StoredMessage<A> = InMemory<A> | Ticket;

interface InMemory<A> {
  readonly arrival: A;
  readonly bytes: number;
}

interface BacklogOptions {
  readonly room: Capacity;
  readonly spool: Spool;
  onTrouble(error: unknown, what: LogText<'error'>): void;
}

export function createBacklog<A extends { readonly event: HubEvent }>({
  room,
  spool,
  onTrouble,
}: BacklogOptions): Backlog<A> {
  return {
    inMemory(arrival) {
      const bytes = sizeOf(arrival.event);
      return room.take(bytes) ? { arrival, bytes } : undefined;
    },
    onDisk({ event }) {
      try {
        return spool.put(event);
      } catch (error) {
        onTrouble(error, 'spool cannot be written');
        return undefined;
      }
    },
    fetch(kept) {
      if ('segment' in kept) {
        const taken = spool.take(kept);
        return taken instanceof Promise ? within(taken, spoolAnswersMs) : taken;
      }
      room.give(kept.bytes);
      return kept.arrival;
    },
    clear: room.clear,
  };
}

/** Approximate memory for a message without its body and properties. */
const bareBytes = 1_000;

function sizeOf({ body, properties = {} }: HubEvent): number {
  let bytes = bareBytes + (body instanceof Uint8Array ? body.byteLength : 0);
  for (const [name, value] of Object.entries(properties)) {
    bytes += name.length + (typeof value === 'string' ? value.length : 0);
  }
  return bytes;
}
