import type { EventStore } from '../persistence/eventStore.ts';
import type { EventPosition, LoggedEvent } from '../values/loggedEvent.ts';
import { createSlabAllocator } from './slabAllocator.ts';

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
  /** Append the event that `encode` makes for its position; its bytes are copied. Throws when it cannot be written to disk. */
  append(encode: (position: EventPosition) => Buffer): LoggedEvent;
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
  // events[head] is the oldest event; the emptied front is cut off when it makes up half of the array
  let events: (LoggedEvent | undefined)[] = [];
  let head = 0;
  let first = 0;
  let size = 0;
  let lastTime = 0;
  let retainedBytes = 0; // as the retention counts
  let storedBytes = 0; // the same of the events in the file
  const copy = createSlabAllocator();
  const listeners = new Set<() => void>();

  const next = () => first + events.length - head;
  const at = (sequenceNumber: number) => (sequenceNumber < first ? undefined : events[head + sequenceNumber - first]);

  const retentionSize = ({ bytes }: LoggedEvent): number => bytes.length + eventOverhead;
  const add = (event: LoggedEvent): void => {
    size += event.bytes.length;
    retainedBytes += retentionSize(event);
    events.push(event);
    while (retainedBytes > retention && next() - first > 1) removeOldest();
  };
  const removeOldest = (): void => {
    const oldest = events[head];
    if (oldest) retainedBytes -= retentionSize(oldest);
    events[head] = undefined;
    head += 1;
    first += 1;
    if (head > 1024 && head * 2 > events.length) {
      events = events.slice(head);
      head = 0;
    }
  };

  const store = openStore?.((event) => {
    if (storedBytes === 0) {
      first = event.sequenceNumber;
      size = event.offset;
    }
    storedBytes += retentionSize(event);
    lastTime = event.enqueuedTime;
    add({ ...event, bytes: copy(event.bytes) });
  });
  /** Write the file anew when most of its events are no longer kept. */
  const compact = (): void => {
    if (!store || storedBytes <= 2 * retainedBytes) return;
    store.replace(all());
    storedBytes = retainedBytes;
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
      const position = { sequenceNumber: next(), offset: size, enqueuedTime: lastTime };
      const event = { ...position, bytes: copy(encode(position)) };
      compact();
      store?.append(event);
      storedBytes += retentionSize(event);
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
