import { within } from '../../concurrency/within.ts';
import type { HubEvent } from '../../protocol/event.ts';
import type { Room } from './capacity.ts';
import type { Spool, Ticket } from './spool.ts';

/** The longest the spool may take to give a message back. */
const spoolAnswersMs = 20_000;

/** Where messages lie that wait to begin: a few in memory, the others in the spool (D16). Their order is the lanes' matter. */
export interface Backlog<A> {
  /** Undefined when there is no room. */
  inMemory(arrival: A): Kept<A> | undefined;
  /** Undefined when there is no room. A disk that is full for everybody is a full spool. */
  onDisk(arrival: A): Kept<A> | undefined;
  /**
   * Each once.
   * @throws when the spool cannot be read
   */
  fetch(kept: Kept<A>): A | Promise<HubEvent>;
  /** Gives up the room of all that is in memory. */
  clear(): void;
}

export type Kept<A> = InMemory<A> | Ticket;

interface InMemory<A> {
  readonly arrival: A;
  readonly bytes: number;
}

interface BacklogOptions {
  readonly room: Room;
  readonly spool: Spool;
  onTrouble(error: unknown, what: string): void;
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
      if ('segment' in kept) return within(spool.take(kept), spoolAnswersMs);
      room.give(kept.bytes);
      return kept.arrival;
    },
    clear: room.clear,
  };
}

/** About what a message takes in memory: its body, its properties, and what holds them together. */
const bareBytes = 1_000;

function sizeOf({ body, properties = {} }: HubEvent): number {
  let bytes = bareBytes + (body instanceof Uint8Array ? body.byteLength : 0);
  for (const [name, value] of Object.entries(properties)) {
    bytes += name.length + (typeof value === 'string' ? value.length : 0);
  }
  return bytes;
}
