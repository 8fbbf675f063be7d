import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventHubProducerClient } from '@azure/event-hubs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Hub, startHub } from '../../sandbox/hub/hub.ts';
import { type Azurite, startAzurite } from '../../sandbox/methods/azurite.ts';
import { createBudget } from '../../src/hub/partition/budget.ts';
import { openSpool } from '../../src/hub/partition/spool.ts';
import { type Consumer, createConsumer } from '../../src/hub/reading/consumer.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createBlobStore } from '../../src/hub/stores/blobStore.ts';
import { createLog } from '../../src/log/log.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import { bodyBytes } from '../support/events.ts';

cureHubSdks();

const directory = mkdtempSync(join(tmpdir(), 'blob-scale-out-'));
let azurite: Azurite;
let hub: Hub;
let producer: EventHubProducerClient;
const running = new Set<Consumer>();

beforeAll(async () => {
  [azurite, hub] = await Promise.all([
    startAzurite(),
    startHub({ directory, partitions: 4, consumerGroups: ['shared'] }),
  ]);
  producer = new EventHubProducerClient(hub.eventHubConnectionString('iothubowner'));
});
afterEach(async () => {
  await Promise.all([...running].map((one) => one.stop()));
  running.clear();
});
afterAll(async () => {
  await producer.close();
  await Promise.all([hub.close(), azurite.close()]);
  rmSync(directory, { recursive: true });
});

/** Each instance has a client of its own, as processes have. */
const openStore = () =>
  createBlobStore({
    connectionString: azurite.connectionString,
    container: 'checkpoints',
    namespace: 'localhost',
    hub: 'sandbox',
    consumerGroup: 'shared',
  });

function enter(handled: string[]): Consumer {
  const consumer = createConsumer({
    connectionString: hub.eventsConnectionString,
    consumerGroup: 'shared',
    startPosition: 'earliest',
    batchSize: 10,
    prefetch: 50,
    maxWaitSeconds: 1,
    drainMs: 2_000,
    roundMs: 150,
    answerMs: 20_000,
    silentMs: 8_000,
    balance: { expiryMs: 10_000, forceMs: 20_000 },
    store: openStore(),
    log: createLog('silent'),
    partition: () => ({
      budget: createBudget({ maxMessages: 100, maxBytes: 1e6 }),
      spool: openSpool(directory, `spool-${Math.random()}`, { maxBytes: 1e6, maxMessages: 1e5 }),
      costOf: bodyBytes,
      arrivalOf: (event: HubEvent) => ({ event, deviceId: String(event.properties?.['device']) }),
      async dispatch({ event }) {
        handled.push(Buffer.from(event.body as Uint8Array).toString());
        return true;
      },
      limits: { everyMessages: 10, everyMs: 100, deviceMessages: 16 },
    }),
  });
  running.add(consumer);
  consumer.start();
  return consumer;
}

async function send(texts: readonly string[]) {
  const partitions = ['0', '1', '2', '3'];
  await Promise.all(
    partitions.map((partitionId, number) =>
      producer.sendBatch(
        texts
          .filter((_, index) => index % partitions.length === number)
          .map((text) => ({ body: Buffer.from(text), properties: { device: `d${partitionId}` } })),
        { partitionId },
      ),
    ),
  );
}

async function sharesOf(): Promise<number[]> {
  const counts = new Map<string, number>();
  for (const { owner } of await openStore().ownerships()) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  return [...counts.values()].sort();
}

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}`);
const soon = { timeout: 60_000, interval: 50 };

describe('two instances over one storage account', () => {
  it('share the partitions, hand them back, and handle each message once', async () => {
    const handled: string[] = [];
    const expected = [...numbered('alone', 40), ...numbered('shared', 40), ...numbered('left', 40)];

    enter(handled);
    await send(expected.slice(0, 40));
    await vi.waitFor(async () => expect(await sharesOf()).toEqual([4]), soon);

    const second = enter(handled);
    await vi.waitFor(async () => expect(await sharesOf()).toEqual([2, 2]), soon);
    await send(expected.slice(40, 80));
    await vi.waitFor(() => expect(handled).toHaveLength(80), soon);

    await second.stop();
    running.delete(second);
    await send(expected.slice(80));
    await vi.waitFor(async () => expect(await sharesOf()).toEqual([4]), soon);
    await vi.waitFor(() => expect(handled.length).toBeGreaterThanOrEqual(expected.length), soon);
    expect(handled.sort()).toEqual(expected.sort());
  });
});
