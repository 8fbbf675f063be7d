import type { HubEvent } from '../../protocol/event.ts';
import { within } from '../within.ts';
import type { Spool, Ticket } from './spool.ts';

/** The longest the spool may take to give a message back. */
const spoolAnswersMs = 20_000;

/** Messages of devices that have too many in memory already. They wait in the spool, each device's in order (D16). */
export interface Overflow {
  /** Whether messages of the device wait: then all that come must, to keep their order. */
  has(deviceId: string): boolean;
  /** Answers whether there was room. A disk that is full for everybody is a full spool. */
  put(event: HubEvent, deviceId: string, done: () => () => void): boolean;
}

export interface OverflowOptions {
  readonly spool: Spool;
  /** Runs behind what the device's lane already holds. */
  run(deviceId: string, work: () => Promise<void>): void;
  /** Handles a message that has come back, and calls `done` when that is over. */
  handle(event: HubEvent, done: () => void): Promise<void>;
  /** From here on nothing is fetched any more. */
  isClosing(): boolean;
  onTrouble(error: unknown, what: string): void;
  /** A message cannot be read back. */
  onLost(): void;
}

interface Waiting {
  readonly ticket: Ticket;
  readonly done: () => void;
}

export function createOverflow({ spool, run, handle, isClosing, onTrouble, onLost }: OverflowOptions): Overflow {
  const queues = new Map<string, Waiting[]>();

  /** In order, until nothing of the device is left. */
  async function empty(deviceId: string, queue: Waiting[]) {
    try {
      for (let next = queue.splice(0); next.length > 0; next = queue.splice(0)) {
        for (const { ticket, done } of next) {
          if (!isClosing()) await handle(await within(spool.take(ticket), spoolAnswersMs), done);
        }
      }
    } catch (error) {
      if (!isClosing()) onTrouble(error, 'spool cannot be read: reading the partition again from its checkpoint');
      onLost();
    }
    queues.delete(deviceId);
  }

  function ticketFor(event: HubEvent): Ticket | undefined {
    try {
      return spool.put(event);
    } catch (error) {
      onTrouble(error, 'spool cannot be written');
      return undefined;
    }
  }

  return {
    has: (deviceId) => queues.has(deviceId),
    put(event, deviceId, begin) {
      const ticket = ticketFor(event);
      if (ticket === undefined) return false;
      const waiting = { ticket, done: begin() };
      const queue = queues.get(deviceId);
      if (queue) {
        queue.push(waiting);
        return true;
      }
      const fresh = [waiting];
      queues.set(deviceId, fresh);
      run(deviceId, () => empty(deviceId, fresh));
      return true;
    },
  };
}
