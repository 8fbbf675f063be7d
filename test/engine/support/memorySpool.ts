import type { Spool, Ticket } from '../../../src/engine/spool/spool.ts';
import type { HubEvent } from '../../../src/protocol/event.ts';

/** For tests with a clock of their own: a disk answers in its own time. */
export function memorySpool(maxMessages = Number.POSITIVE_INFINITY): Spool & { isFull(): boolean } {
  const kept = new Map<number, HubEvent>();
  let next = 0;
  return {
    isFull: () => kept.size === maxMessages,
    put(event) {
      if (kept.size === maxMessages) return undefined;
      next += 1;
      kept.set(next, event);
      return { segment: 0, at: next, length: 0 };
    },
    async take({ at }) {
      const event = kept.get(at);
      if (event === undefined) throw new Error('a ticket was used twice');
      kept.delete(at);
      return event;
    },
    taken: () => ({ messages: kept.size, bytes: 0 }),
    close() {},
  };
}

/** One whose disk answers when the test says so. */
export function slowSpool() {
  let read = () => {};
  const spool = memorySpool();
  async function take(ticket: Ticket) {
    await new Promise<void>((resolve) => (read = resolve));
    return spool.take(ticket);
  }
  return { spool: { ...spool, take }, read: () => read() };
}
