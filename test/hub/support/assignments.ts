import type { SubscriptionEventHandlers } from '@azure/event-hubs';
import { createPartitionSessions, type PartitionSessionsOptions } from '../../../src/hub/reading/assignments.ts';
import { createReadingTroubles } from '../../../src/hub/reading/readingTroubles.ts';
import { createMeter } from '../../../src/observing/metrics.ts';
import type { CheckpointStore, Lease } from '../../../src/stores/checkpointStore.ts';
import { createMemoryStore } from '../../../src/stores/fileCheckpoints.ts';
import { budgetOf, limits, receivedMessageOf, usual } from '../../engine/support/partitions.ts';
import { hubEvent } from '../../support/events.ts';
import { neverCrashing } from '../../support/processLife.ts';
import { takeOver } from './claims.ts';
import { createFakeHub } from './fakeHub.ts';
import { silence, untold } from './replying.ts';

interface Circumstances
  extends Partial<Pick<PartitionSessionsOptions<never>, 'log' | 'sessionBegins' | 'allTroubles' | 'drainMs'>> {
  readonly meter?: ReturnType<typeof createMeter>;
  /** How many partitions this instance owns: 0, 1 … */
  readonly partitions?: number;
  /** How many messages of one device each of them has. */
  readonly messages?: number;
  /** Of the store, instead of the usual. */
  readonly store?: Partial<CheckpointStore>;
  /** Releases the ownership of a partition. */
  readonly release?: Parameters<typeof createPartitionSessions>[1]['release'];
  /** Until when the handling of each message takes. */
  readonly handling?: Promise<unknown>;
}

/** The partition sessions of an instance. */
export async function openSessions(circumstances: Circumstances = {}) {
  const { partitions = 1, messages = 1, store: changed = {}, release = async () => {} } = circumstances;
  const { meter = createMeter(), log = silence, sessionBegins = () => {} } = circumstances;
  const { allTroubles = untold, drainMs = 1_000, handling = Promise.resolve() } = circumstances;
  const ids = Array.from({ length: partitions }, (_, index) => String(index));
  const hub = createFakeHub(ids);
  const client = hub.client(neverCrashing());
  const handlers = new Map<string, SubscriptionEventHandlers>();
  const store = { ...createMemoryStore(), ...changed };
  const sessions = createPartitionSessions(
    {
      client: () =>
        ({
          ...client,
          subscribe(partition: string, given: SubscriptionEventHandlers, options: object) {
            handlers.set(partition, given);
            return client.subscribe(partition, given, options);
          },
        }) as never,
    },
    { release },
    {
      ...{ batchSize: 10, prefetch: 10, maxWaitSeconds: 1, drainMs, meter },
      startPosition: 'earliest',
      partitionIds: () => [],
      ...{ answerMs: 20_000, store, log, sessionBegins },
      ...{ troubles: createReadingTroubles(untold), allTroubles },
      partition: () => ({
        ...{ budget: budgetOf(10), backlog: usual.backlog, costOf: usual.costOf, limits, receivedMessageOf },
        dispatch: () => handling.then(() => true),
      }),
    },
  );
  const records: Lease[] = [];
  for (const partition of ids) {
    for (let sequenceNumber = 0; sequenceNumber < messages; sequenceNumber += 1)
      hub.append(partition, hubEvent({ sequenceNumber, properties: { device: 'a' } }));
    const record = await takeOver(store, 'me', partition);
    records.push(record);
    await sessions.open(record, { begun: 41, afterUncleanShutdown: false });
  }
  const tell = (partition: string, code: string) =>
    handlers.get(partition)?.processError(Object.assign(new Error('says the hub'), { code }), undefined as never);
  return {
    hub,
    sessions,
    meter,
    ids,
    records,
    /** As they are when another instance has claimed the partitions. */
    claimedByOthers: records.map((record) => ({ ...record, owner: 'other', epoch: 6 })),
    /** The hub refuses the position at which a partition is read. */
    refuse: async (partition: string) => tell(partition, 'ArgumentError'),
    /** Another reader has connected with a higher epoch. */
    disconnect: async (partition: string) => tell(partition, 'ReceiverDisconnectedError'),
  };
}
