import type { LoggedEvent } from '../values/loggedEvent.ts';
import { openRecords } from './records.ts';

/** Where a partition keeps its events beyond the life of the process. */
export interface EventStore {
  /** Keep an event; it is with the operating system when this returns. */
  append(event: LoggedEvent): void;
  /** Forget all events but these. */
  replace(events: Iterable<LoggedEvent>): void;
  close(): void;
}

// payload: sequence number, offset, enqueued time (f64 LE each), the encoded AMQP message
const positionSize = 24;

/**
 * The events of one partition in an append-only file. `each` gets those that are there, oldest first; their bytes may be
 * used during the call only.
 */
export function openEventStore(path: string, each: (event: LoggedEvent) => void): EventStore {
  const file = openRecords(path, (payload) =>
    each({
      sequenceNumber: payload.readDoubleLE(0),
      offset: payload.readDoubleLE(8),
      enqueuedTime: payload.readDoubleLE(16),
      bytes: payload.subarray(positionSize),
    }),
  );
  const position = Buffer.alloc(positionSize);
  const encode = ({ sequenceNumber, offset, enqueuedTime, bytes }: LoggedEvent): [Buffer, Buffer] => {
    position.writeDoubleLE(sequenceNumber, 0);
    position.writeDoubleLE(offset, 8);
    position.writeDoubleLE(enqueuedTime, 16);
    return [position, bytes];
  };
  function* encodeAll(events: Iterable<LoggedEvent>): Generator<[Buffer, Buffer]> {
    for (const event of events) yield encode(event);
  }
  return {
    append: (event) => file.append(...encode(event)),
    replace: (events) => file.replace(encodeAll(events)),
    close: file.close,
  };
}
