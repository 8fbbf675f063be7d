import { afterEach } from 'vitest';
import { createBudget } from '../../../src/engine/budget.ts';
import type { DeviceEvent } from '../../../src/engine/intake.ts';
import { type Consumer, type ConsumerOptions, createConsumer } from '../../../src/hub/reading/consumer.ts';
import { createLog } from '../../../src/observing/log.ts';
import type { HubEvent } from '../../../src/protocol/event.ts';
import type { CheckpointStore } from '../../../src/stores/checkpointStore.ts';
import { backlogOf } from '../../engine/support/partitions.ts';
import { bodyBytes } from '../../support/events.ts';

/** How an instance reads the hub, for tests that are about something else. */
export const usualReading = {
  ...{ consumerGroup: '$Default', startPosition: 'earliest' as const, batchSize: 10, prefetch: 50, maxWaitSeconds: 1 },
  ...{ silentMs: 8_000, answerMs: 20_000, drainMs: 500, roundMs: 100 },
  ...{ balance: { expiryMs: 20_000, forceMs: 40_000 }, log: createLog('silent') },
} as const;

/** What it gives to each partition besides the work on messages. All of them come from one device. */
export const usualOpened = (maxMessages = 100) => ({
  budget: createBudget({ maxMessages, maxBytes: 1e6 }),
  backlog: backlogOf(1e6),
  costOf: bodyBytes,
  receivedMessageOf: (event: HubEvent) => ({ event, deviceId: 'd1' }),
  limits: { everyMessages: 1, everyMs: 1_000 },
});

type Options<A extends DeviceEvent> = Omit<ConsumerOptions<A>, keyof typeof usualReading> & Partial<ConsumerOptions<A>>;

/** Begins consumers, which stop after their test: before their hub ends, if that is declared first. */
export function consumersForEach(): <A extends DeviceEvent>(options: Options<A>) => Consumer {
  const running: Consumer[] = [];
  afterEach(() => Promise.all(running.splice(0).map((one) => one.stop())));
  return (options) => {
    const consumer = createConsumer({ ...usualReading, ...options });
    running.push(consumer);
    consumer.start();
    return consumer;
  };
}

export const textOf = ({ body }: HubEvent): string => Buffer.from(body as Uint8Array).toString();

/** The store, each call of which goes this way. */
export const storeThrough = (
  store: CheckpointStore,
  way: <T>(call: () => Promise<T>) => Promise<T>,
): CheckpointStore => ({
  ownerships: () => way(() => store.ownerships()),
  change: (seen, next) => way(() => store.change(seen, next)),
  progress: (partition) => way(() => store.progress(partition)),
  checkpoints: () => way(store.checkpoints),
  writeCheckpoint: (reader, progress) => way(() => store.writeCheckpoint(reader, progress)),
});
