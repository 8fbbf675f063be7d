import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContainerClient } from '@azure/storage-blob';
import { expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { createBlobStore } from '../../src/stores/blobCheckpoints.ts';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { createFileStore } from '../../src/stores/fileCheckpoints.ts';
import { events, partitionByHand } from '../engine/support/partitions.ts';
import { storageAccount } from '../support/storageAccount.ts';

// Recorded with the version before the map had one form: partition 0 has a short map, partition 1 a long one.

const directory = folderForEach('older');
const fixtures = 'test/stores/fixtures/olderCheckpoints';
const recorded = [
  { sequenceNumber: 100, offset: 'o100', note: '1 3 2000 117 117:2,125:0' },
  { sequenceNumber: 5_000, offset: 'o5000' },
];

/** Position and note are kept, nothing above the position counts as done, and the store takes the next checkpoints. */
async function expectRepeats(store: CheckpointStore) {
  for (const [index, expected] of recorded.entries()) {
    const progress = await store.progress(String(index));
    expect(progress).toEqual({ ...expected, completed: expect.any(String) });
    const { partition, started } = partitionByHand({ progress });
    const next = ['a', 'b', 'c', 'd'].map((device, at) => `${device}${expected.sequenceNumber + 1 + at}`);
    await partition.admit(events(next.join(' ')));
    expect(started).toEqual(next.map((one) => Number(one.slice(1))));
    const seen = (await store.ownerships()).find((one) => one.partition === String(index));
    const reader = seen && (await store.change(seen, { ...seen, owner: 'next', epoch: seen.epoch + 1 }));
    const written = { ...expected, sequenceNumber: expected.sequenceNumber + 1, completed: '2 0 abc' };
    expect(reader && (await store.writeCheckpoint(reader, written))).toBe(true);
    expect(await store.progress(String(index))).toEqual(written);
  }
}

it('a file of an older version is continued, and its maps are ignored and removed', async () => {
  cpSync(join(fixtures, 'file'), directory, { recursive: true });
  expect(readdirSync(directory)).toHaveLength(2);
  await expectRepeats(createFileStore(directory, 'place'));
  expect(readdirSync(directory)).toEqual(['place.json']);
});

it('blobs of an older version are continued, and their maps are ignored', async () => {
  const { connectionString } = await storageAccount();
  const container = new ContainerClient(connectionString, 'recorded');
  await container.create();
  const blobs: { name: string; metadata: Record<string, string>; content: string }[] = JSON.parse(
    readFileSync(join(fixtures, 'blobs.json'), 'utf8'),
  );
  for (const { name, metadata, content } of blobs)
    await container.getBlockBlobClient(name).upload(content, content.length, { metadata });
  const place = { namespace: 'hub.example', hub: 'devices', consumerGroup: 'group' };
  await expectRepeats(createBlobStore({ account: connectionString, container: 'recorded', ...place }));
});
