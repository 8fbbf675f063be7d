import { within } from '../../concurrency/within.ts';
import type { Log } from '../../log/log.ts';
import type { Troubles } from '../../log/troubles.ts';
import type { CheckpointStore } from '../stores/checkpointStore.ts';
import type { EventHubConnection } from './eventHubConnection.ts';
import { firstEventTime } from './firstEvent.ts';
import { createNewestEvents, type NewestEvents } from './newestEvents.ts';
import type { PartitionSessions } from './sessions.ts';
import { createStallWatch } from './stallWatch.ts';
import type { StartPosition } from './startPosition.ts';
import { createUnownedPartitions, type UnownedPartitions } from './unowned.ts';

/** Compares what the hub has with what it delivers, and connects again when it has fallen silent. */
export interface HubWatch {
  /**
   * Called in each round. Never waits, never throws.
   * @param unowned partitions that no instance reads
   */
  look(unowned: readonly string[]): void;
  /** What the hub says of the partitions that are read here, and of those. */
  readonly newest: Pick<NewestEvents, 'of' | 'hasFailed' | 'silentMs'>;
  readonly unowned: UnownedPartitions['all'];
}

interface HubWatchOptions {
  readonly answerMs: number;
  /** Interval of the questions for the newest event of each partition. */
  readonly everyMs: number;
  readonly startPosition: StartPosition;
  readonly store: Pick<CheckpointStore, 'progress'>;
  readonly log: Log;
  readonly allTroubles: Pick<Troubles, 'raise'>;
}

export function createHubWatch(
  connection: EventHubConnection,
  sessions: Pick<PartitionSessions, 'all' | 'reading'>,
  { answerMs, everyMs, startPosition, store, log, allTroubles }: HubWatchOptions,
): HubWatch {
  async function newestOf(partition: string): Promise<number> {
    const { lastEnqueuedSequenceNumber, isEmpty } = await connection.client().getPartitionProperties(partition);
    // The retention empties a partition, and its number stays.
    return isEmpty ? -1 : lastEnqueuedSequenceNumber;
  }

  const couldNotAsk = (partition: string, error: unknown) =>
    log.debug({ err: error, partition }, 'cannot ask the hub for its newest event');
  const newest = createNewestEvents({ newestOf, everyMs, answerMs, couldNotAsk });
  const unowned = createUnownedPartitions({
    checkpointOf: (partition) => within(store.progress(partition), answerMs),
    startPosition,
    newest,
    firstAfter: (partition, offset) => firstEventTime(connection.another(), partition, offset, answerMs),
    everyMs,
    couldNotAsk,
  });
  const stallWatch = createStallWatch({
    newestOf: (partition) => within(newestOf(partition), answerMs),
    stalled(which) {
      const message = 'the hub has events that do not come: connecting again';
      allTroubles.raise('events that do not come', { level: 'warn', message, fields: { partitions: which } });
      connection.reconnect(sessions.reading());
    },
    idle() {
      log.debug({}, 'no event from any partition: connecting again, in case the hub has moved');
      connection.reconnect(sessions.reading());
    },
    couldNotAsk: (error) => log.debug({ err: error }, 'cannot ask the hub whether it has events that do not come'),
  });

  return {
    look(others) {
      connection.revive(sessions.reading());
      void stallWatch.look(sessions.reading());
      newest.look([...sessions.all().map(({ record }) => record.partition), ...others]);
      unowned.look(others);
    },
    newest,
    unowned: unowned.all,
  };
}
