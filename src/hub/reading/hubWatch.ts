import { within } from '../../concurrency/within.ts';
import type { Log } from '../../log/log.ts';
import type { Troubles } from '../../log/troubles.ts';
import type { EventHubConnection } from './eventHubConnection.ts';
import { createNewestEvents } from './newestEvents.ts';
import type { PartitionSessions } from './sessions.ts';
import { createStallWatch } from './stallWatch.ts';

/** Compares what the hub has with what it delivers, and connects again when it has fallen silent. */
export interface HubWatch {
  /** Called in each round. Never waits, never throws. */
  look(): void;
  /** Sequence number of the newest event of a partition that is read, as of the hub's last answer. */
  newestOf(partition: string): number | undefined;
}

interface HubWatchOptions {
  readonly answerMs: number;
  readonly log: Log;
  readonly allTroubles: Pick<Troubles, 'met'>;
}

export function createHubWatch(
  connection: EventHubConnection,
  sessions: Pick<PartitionSessions, 'all' | 'reading'>,
  { answerMs, log, allTroubles }: HubWatchOptions,
): HubWatch {
  const newestOf = async (partition: string) =>
    (await connection.client().getPartitionProperties(partition)).lastEnqueuedSequenceNumber;
  const newestEvents = createNewestEvents({
    newestOf,
    answerMs,
    couldNotAsk: (partition, error) => log.debug({ err: error, partition }, 'cannot ask the hub for its newest event'),
  });
  const stallWatch = createStallWatch({
    newestOf: (partition) => within(newestOf(partition), answerMs),
    stalled(which) {
      const message = 'the hub has events that do not come: connecting again';
      allTroubles.met('events that do not come', { level: 'warn', message, fields: { partitions: which } });
      connection.reconnect(sessions.reading());
    },
    idle() {
      log.debug({}, 'no event from any partition: connecting again, in case the hub has moved');
      connection.reconnect(sessions.reading());
    },
    couldNotAsk: (error) => log.debug({ err: error }, 'cannot ask the hub whether it has events that do not come'),
  });

  return {
    look() {
      connection.revive(sessions.reading());
      void stallWatch.look(sessions.reading());
      newestEvents.look(sessions.all().map(({ record }) => record.partition));
    },
    newestOf: newestEvents.of,
  };
}
