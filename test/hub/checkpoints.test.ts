import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCheckpointFile } from '../../src/hub/checkpointFile.ts';
import { createCheckpointStore } from '../../src/hub/checkpointStore.ts';

const place = { fullyQualifiedNamespace: 'ns', eventHubName: 'hub', consumerGroup: '$Default' };
const checkpoint = (partitionId: string, sequenceNumber: number) => ({
  ...place,
  partitionId,
  sequenceNumber,
  offset: `${sequenceNumber}00`,
});
const list = (store: ReturnType<typeof createCheckpointStore>) => store.listCheckpoints('ns', 'hub', '$Default');

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'checkpoints-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('the checkpoint file', () => {
  it('keeps the newest checkpoint of every partition over a restart', async () => {
    const store = createCheckpointStore(createCheckpointFile(directory));
    await store.updateCheckpoint(checkpoint('0', 1));
    await store.updateCheckpoint(checkpoint('1', 7));
    await store.updateCheckpoint(checkpoint('0', 2));
    expect(await list(createCheckpointStore(createCheckpointFile(directory)))).toEqual([
      checkpoint('0', 2),
      checkpoint('1', 7),
    ]);
  });

  it('has the last word of writes that overlap', async () => {
    const store = createCheckpointStore(createCheckpointFile(directory));
    await Promise.all(Array.from({ length: 20 }, (_, index) => store.updateCheckpoint(checkpoint('0', index))));
    expect(await list(createCheckpointStore(createCheckpointFile(directory)))).toEqual([checkpoint('0', 19)]);
  });

  it('is replaced as a whole, by its owner alone', async () => {
    const store = createCheckpointStore(createCheckpointFile(directory));
    await store.updateCheckpoint(checkpoint('0', 1));
    expect(readdirSync(directory)).toEqual(['checkpoints.json']);
    expect(statSync(join(directory, 'checkpoints.json')).mode & 0o777).toBe(0o600);
  });

  it('that a crash left half written beside the old one does not matter', async () => {
    const file = createCheckpointFile(directory);
    await file.write([checkpoint('0', 1)]);
    writeFileSync(join(directory, 'checkpoints.json.new'), '{"form');
    expect(createCheckpointFile(directory).read()).toEqual([checkpoint('0', 1)]);
  });

  it.each(['', '{', '[]', '{"format":2,"checkpoints":[]}'])(
    'that cannot be understood (%j) is no reason to start over in silence',
    (text) => {
      writeFileSync(join(directory, 'checkpoints.json'), text);
      expect(() => createCheckpointFile(directory).read()).toThrow(/is no checkpoint file of format 1/);
      expect(readFileSync(join(directory, 'checkpoints.json'), 'utf8')).toBe(text);
    },
  );
});

describe('ownership', () => {
  const claim = (ownerId: string, etag?: string) => ({
    ...place,
    partitionId: '0',
    ownerId,
    ...(etag === undefined ? {} : { etag }),
  });

  it('is claimed with the etag last seen, and only then', async () => {
    const store = createCheckpointStore();
    const [first] = await store.claimOwnership([claim('a')]);
    expect(await store.claimOwnership([claim('b')])).toEqual([]);
    expect(await store.claimOwnership([claim('b', first?.etag)])).toMatchObject([{ ownerId: 'b' }]);
    expect(await store.listOwnership('ns', 'hub', '$Default')).toMatchObject([{ ownerId: 'b' }]);
  });
});
