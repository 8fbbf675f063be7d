import type { Log } from '../../log/log.ts';
import type { Troubles } from '../../log/troubles.ts';
import type { EventHubConnection } from './eventHubConnection.ts';
import { createNewestEvents } from './newestEvents.ts';
import type { HubSays } from './partitionState.ts';
import type { PartitionSession } from './session.ts';
import type { PartitionSessions } from './sessions.ts';

/** Compares what the hub has with what it delivers, and connects again when it has fallen silent (D38). */
export interface HubWatch {
  /** Called in each round. Never waits, never throws. */
  look(): void;
  /** Whether the hub delivers events of the partition, or has recently confirmed that there are none. */
  isHeard(partition: string): boolean;
  saidOf(partition: string): HubSays;
}

interface HubWatchOptions {
  readonly answerMs: number;
  /** Interval of the questions for the newest event of each partition. */
  readonly everyMs: number;
  readonly silentMs: number;
  readonly log: Log;
  readonly allTroubles: Pick<Troubles, 'raise'>;
}

/** Time without events of a partition of which the hub has more. */
const withheldMs = 60_000;
/** Time without events of any partition: devices may send nothing, or the address of the hub may have changed. */
const idleMs = 5 * 60_000;

export function createHubWatch(
  connection: EventHubConnection,
  sessions: Pick<PartitionSessions, 'all' | 'reading'>,
  { answerMs, everyMs, silentMs, log, allTroubles }: HubWatchOptions,
): HubWatch {
  const newest = createNewestEvents({
    async newestOf(partition) {
      const { lastEnqueuedSequenceNumber, isEmpty } = await connection.client().getPartitionProperties(partition);
      return isEmpty ? -1 : lastEnqueuedSequenceNumber; // the retention empties a partition, and its number stays
    },
    ...{ everyMs, answerMs },
    couldNotAsk: (partition, error) => log.debug({ err: error, partition }, 'cannot ask the hub for its newest event'),
  });

  const isWithheld = ({ record, position, reader }: PartitionSession) =>
    reader.quiet().eventlessMs > withheldMs && (newest.of(record.partition)?.newest ?? -1) > position();

  /**
   * The client reports an open link without asking the hub: so it counts for nothing after a question that the hub has left
   * unanswered, until there is an answer or an event.
   */
  function isHeard(partition: string): boolean {
    const reader = sessions.all().find(({ record }) => record.partition === partition)?.reader;
    if (reader === undefined || !reader.isHeard()) return false;
    const { deafMs, eventlessMs } = reader.quiet();
    return deafMs <= silentMs && eventlessMs <= (newest.silentMs(partition) ?? Number.POSITIVE_INFINITY);
  }

  return {
    look() {
      const reading = sessions.reading();
      connection.revive(reading);
      newest.look(sessions.all().map(({ record }) => record.partition));
      const withheld = reading.filter(isWithheld).map(({ record }) => record.partition);
      if (withheld.length > 0) {
        const message = 'the hub has events that do not come: connecting again';
        allTroubles.raise('events that do not come', { level: 'warn', message, fields: { partitions: withheld } });
      }
      const isIdle = reading.length > 0 && reading.every(({ reader }) => reader.quiet().eventlessMs > idleMs);
      if (withheld.length > 0 || isIdle) connection.reconnect(reading);
    },
    isHeard,
    saidOf: (partition) => ({
      answer: newest.of(partition),
      isAnswering: isHeard(partition) && !newest.hasFailed(partition),
    }),
  };
}
