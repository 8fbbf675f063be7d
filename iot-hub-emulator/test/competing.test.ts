import {
  type CheckpointStore,
  EventHubConsumerClient,
  EventHubProducerClient,
  type PartitionOwnership,
  type ReceivedEventData,
} from '@azure/event-hubs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { listenInTest } from './support/eventClients.ts';
import { hubForAll } from './support/sharedHub.ts';

// Official event clients that share the work by way of a checkpoint store, and consumer groups.

let producer: EventHubProducerClient;
const hub = hubForAll({ partitions: 4, consumerGroups: ['second', 'third'], ownerMaySend: true });
beforeAll(() => {
  producer = new EventHubProducerClient(hub.eventHubConnectionString('iothubowner'));
});
afterAll(() => producer.close());

/** Keeps ownerships with etags, as the store in blobs does, and checkpoints. */
function memoryStore(): CheckpointStore {
  const ownerships = new Map<string, PartitionOwnership>();
  const checkpoints = new Map<string, Parameters<CheckpointStore['updateCheckpoint']>[0]>();
  let version = 0;
  return {
    listOwnership: async () => [...ownerships.values()],
    async claimOwnership(claims) {
      const granted = claims.filter(({ partitionId, etag }) => ownerships.get(partitionId)?.etag === etag);
      return granted.map((claim) => {
        version += 1;
        const owned = { ...claim, etag: String(version), lastModifiedTimeInMs: Date.now() };
        ownerships.set(claim.partitionId, owned);
        return owned;
      });
    },
    async updateCheckpoint(checkpoint) {
      checkpoints.set(checkpoint.partitionId, checkpoint);
    },
    listCheckpoints: async () => [...checkpoints.values()],
  };
}

const expiring = { partitionOwnershipExpirationIntervalInMs: 5000 };
const consume = (store: CheckpointStore, group = '$Default') => {
  const client = new EventHubConsumerClient(group, hub.eventsConnectionString, store, {
    loadBalancingOptions: { strategy: 'greedy', updateIntervalInMs: 100, ...expiring },
    retryOptions: { maxRetries: 0, retryDelayInMs: 50 },
  });
  const events: ReceivedEventData[] = [];
  const owned = new Set<string>();
  const subscription = client.subscribe(
    {
      processInitialize: async ({ partitionId }) => void owned.add(partitionId),
      processClose: async (_, { partitionId }) => void owned.delete(partitionId),
      processEvents: async (batch, context) => {
        events.push(...batch);
        const last = batch.at(-1);
        if (last) await context.updateCheckpoint(last);
      },
      processError: async () => undefined,
    },
    { startPosition: { offset: '-1' }, maxWaitTimeInSeconds: 1, skipParsingBodyAsJson: true },
  );
  const stop = async () => {
    await subscription.close();
    await client.close();
  };
  onTestFinished(stop);
  return { events, owned, stop };
};
const bodies = ({ events }: { events: ReceivedEventData[] }) => events.map(({ body }) => body.toString());
const sendToAll = async (text: string) => {
  for (const partitionId of ['0', '1', '2', '3']) await producer.sendBatch([{ body: text }], { partitionId });
};

describe('two consumers with one store', () => {
  test('get two partitions each, and lose no event', async () => {
    const store = memoryStore();
    const first = consume(store);
    await expect.poll(() => first.owned.size).toBe(4);
    const second = consume(store);
    await expect.poll(() => [first.owned.size, second.owned.size]).toEqual([2, 2]);
    expect(new Set([...first.owned, ...second.owned]).size).toBe(4);
    await sendToAll('shared');
    await expect
      .poll(() => [first, second].flatMap(bodies).filter((body) => body === '"shared"').length)
      .toBeGreaterThanOrEqual(4);
    expect(bodies(first)).toContain('"shared"');
    expect(bodies(second)).toContain('"shared"');
  });
  test('continue at the checkpoint of a receiver that leaves', async () => {
    const store = memoryStore();
    const first = consume(store, 'second');
    await expect.poll(() => first.owned.size).toBe(4);
    await sendToAll('before');
    await expect.poll(() => bodies(first).filter((body) => body === '"before"').length).toBe(4);
    await first.stop();
    const second = consume(store, 'second');
    await sendToAll('after');
    await expect.poll(() => bodies(second).filter((body) => body === '"after"').length).toBe(4);
    expect(bodies(second)).not.toContain('"before"');
  });
});

test('each consumer group gets every event', async () => {
  await producer.sendBatch([{ body: 'for all' }], { partitionId: '0' });
  const groups = ['$Default', 'third', 'THIRD'].map((group) =>
    listenInTest(hub, { startPosition: { offset: '-1' }, partition: '0', group }),
  );
  for (const listening of groups) {
    const count = hub.partitions[0]?.next() ?? 0;
    expect(await listening.has(count)).toHaveLength(count);
  }
});

describe('a producer', () => {
  const placed = (text: string) =>
    hub.partitions.map((log) => {
      const found = Array.from({ length: log.next() }, (_, i) => log.at(i)?.bytes.toString('latin1') ?? '');
      return found.filter((bytes) => bytes.includes(text)).length;
    });

  test('with a partition key always sends to the same partition, and the events have the key', async () => {
    for (let i = 0; i < 5; i++) await producer.sendBatch([{ body: 'keyed' }], { partitionKey: 'pump-7' });
    const counts = placed('keyed');
    expect(counts.filter((count) => count > 0)).toEqual([5]);
    const partition = String(counts.indexOf(5));
    const listening = listenInTest(hub, { startPosition: { offset: '-1' }, partition });
    const events = await listening.has(hub.partitions[counts.indexOf(5)]?.next() ?? 0);
    expect(events.at(-1)?.partitionKey).toBe('pump-7');
  });
  test('without a partition key sends to every partition', async () => {
    for (let i = 0; i < 8; i++) await producer.sendBatch([{ body: 'anywhere' }]);
    expect(placed('anywhere')).toEqual([2, 2, 2, 2]);
  });
});
