import type { EventStore } from '../persistence/eventStore.ts';
import type { EventPlace, LoggedEvent } from '../values/loggedEvent.ts';
import { createKeeper } from './keeper.ts';

/** Where a receiver starts: at the first event that comes after (or, inclusive, at) the value; `latest` skips all there is. */
export type StartPosition =
  | { by: 'offset' | 'sequenceNumber' | 'enqueuedTime'; value: number; inclusive: boolean }
  | { by: 'latest' };

/**
 * An append-only log with a cap: the oldest events go when it has more bytes than the retention allows. A receiver that
 * has not read them goes on with the oldest event there is.
 */
export interface PartitionLog {
  readonly id: number;
  /** Append the event that `encode` makes for its place; its bytes are copied. Throws when it cannot be kept on disk. */
  append(encode: (place: EventPlace) => Buffer): LoggedEvent;
  at(sequenceNumber: number): LoggedEvent | undefined;
  /** Sequence number of the first event to deliver for a start position; it may be that of an event yet to come. */
  find(start: StartPosition): number;
  /** Sequence number of the oldest event kept, or of the next one when there is none. */
  first(): number;
  /** Sequence number that the next event will have. */
  next(): number;
  last(): LoggedEvent | undefined;
  /** Call `listener` after every append; the answer ends it. */
  watch(listener: () => void): () => void;
}

/** What an event counts besides its own bytes. */
export const eventOverhead = 128;

/**
 * A partition in memory that keeps the last `retention` bytes of events, and at least one event. With `openStore` it
 * begins with the events that were stored, and every new one is stored before anybody sees it.
 */
export function createPartitionLog(
  id: number,
  retention: number,
  now: () => number,
  openStore?: (each: (event: LoggedEvent) => void) => EventStore,
): PartitionLog {
  // events[head] is the oldest kept; the emptied front is cut off when it makes up half of the array
  let events: (LoggedEvent | undefined)[] = [];
  let head = 0;
  let first = 0;
  let size = 0;
  let lastTime = 0;
  let kept = 0; // of the retention
  let stored = 0; // the same of the events in the file
  const keep = createKeeper();
  const listeners = new Set<() => void>();

  const next = () => first + events.length - head;
  const at = (sequenceNumber: number) => (sequenceNumber < first ? undefined : events[head + sequenceNumber - first]);

  const weigh = ({ bytes }: LoggedEvent): number => bytes.length + eventOverhead;
  const add = (event: LoggedEvent): void => {
    size += event.bytes.length;
    kept += weigh(event);
    events.push(event);
    while (kept > retention && next() - first > 1) removeOldest();
  };
  const removeOldest = (): void => {
    const oldest = events[head];
    if (oldest) kept -= weigh(oldest);
    events[head] = undefined;
    head += 1;
    first += 1;
    if (head > 1024 && head * 2 > events.length) {
      events = events.slice(head);
      head = 0;
    }
  };

  const store = openStore?.((event) => {
    if (stored === 0) {
      first = event.sequenceNumber;
      size = event.offset;
    }
    stored += weigh(event);
    lastTime = event.enqueuedTime;
    add({ ...event, bytes: keep(event.bytes) });
  });
  /** Write the file anew when most of its events are no longer kept. */
  const compact = (): void => {
    if (!store || stored <= 2 * kept) return;
    store.replace(all());
    stored = kept;
  };
  compact();
  function* all(): Generator<LoggedEvent> {
    for (let sequenceNumber = first; sequenceNumber < next(); sequenceNumber++) {
      const event = at(sequenceNumber);
      if (event) yield event;
    }
  }

  return {
    id,
    append(encode) {
      lastTime = Math.max(lastTime, now()); // enqueued times never go back, whatever the clock does
      const place = { sequenceNumber: next(), offset: size, enqueuedTime: lastTime };
      const event = { ...place, bytes: keep(encode(place)) };
      compact();
      store?.append(event);
      stored += weigh(event);
      add(event);
      for (const listener of listeners) listener();
      return event;
    },
    at,
    find(start) {
      if (start.by === 'latest') return next();
      let low = first;
      let high = next();
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        const value = at(middle)?.[start.by] ?? 0;
        if (start.inclusive ? value >= start.value : value > start.value) high = middle;
        else low = middle + 1;
      }
      return low;
    },
    first: () => first,
    next,
    last: () => at(next() - 1),
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
