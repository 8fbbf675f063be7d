import { BlobCheckpointStore } from '@azure/eventhubs-checkpointstore-blob';
import { expect, test } from 'vitest';

// Trap 15 lies in the blob checkpoint store alone, no hub is needed: a container in memory that keeps to the conditions it
// is given, as Azure's does.

type Blob = { metadata: Record<string, string>; etag: string };

function memoryContainer() {
  const blobs = new Map<string, Blob>();
  let tag = 0;
  const put = (name: string, metadata: Record<string, string>) => {
    tag += 1;
    blobs.set(name, { metadata, etag: String(tag) });
    return { etag: String(tag), lastModified: new Date() };
  };
  const fail = (statusCode: number, errorCode: string) =>
    Object.assign(new Error(errorCode), { name: 'RestError', statusCode, details: { errorCode } });
  const client = (name: string) => ({
    async setMetadata(metadata: Record<string, string>, { conditions }: { conditions?: { ifMatch?: string } } = {}) {
      const there = blobs.get(name);
      if (!there) throw fail(404, 'BlobNotFound');
      if (conditions?.ifMatch !== undefined && conditions.ifMatch !== there.etag) throw fail(412, 'ConditionNotMet');
      return put(name, metadata);
    },
    async upload(_: string, __: number, { metadata, conditions }: UploadOptions) {
      if (conditions?.ifNoneMatch === '*' && blobs.has(name)) throw fail(409, 'BlobAlreadyExists');
      return put(name, metadata);
    },
  });
  return {
    blobs,
    getBlobClient: (name: string) => ({ getBlockBlobClient: () => client(name) }),
    async *listBlobsFlat({ prefix }: { prefix: string }) {
      for (const [name, { metadata, etag }] of blobs)
        if (name.startsWith(prefix)) yield { name, metadata, properties: { etag, lastModified: new Date() } };
    },
  };
}

type UploadOptions = { metadata: Record<string, string>; conditions?: { ifNoneMatch?: string } };

const place = { fullyQualifiedNamespace: 'h.example.com', eventHubName: 'hub', consumerGroup: '$Default' };
const setUp = () => {
  const container = memoryContainer();
  const instance = () => new BlobCheckpointStore(container as never);
  return { container, one: instance(), other: instance() };
};
const list = (store: BlobCheckpointStore) =>
  store.listCheckpoints(place.fullyQualifiedNamespace, place.eventHubName, place.consumerGroup);

test('trap 15: a late instance moves a checkpoint backwards', async () => {
  const { one, other } = setUp();
  await other.updateCheckpoint({ ...place, partitionId: '0', offset: '900', sequenceNumber: 9 });
  await one.updateCheckpoint({ ...place, partitionId: '0', offset: '300', sequenceNumber: 3 });
  expect(await list(other)).toMatchObject([{ sequenceNumber: 3 }]);
});

test('trap 15: two instances both get a partition that had no owner', async () => {
  const { one, other } = setUp();
  const claim = (ownerId: string) => [{ ...place, partitionId: '0', ownerId }];
  const claims = await Promise.all([one.claimOwnership(claim('one')), other.claimOwnership(claim('other'))]);
  expect(claims.map((claimed) => claimed.length)).toEqual([1, 1]);
  const [first] = claims[0] ?? [];
  expect(await one.claimOwnership(first ? [{ ...first }] : [])).toEqual([]); // with a tag the claim is atomic
});

test('trap 15: one blob without metadata hides the checkpoints of all partitions', async () => {
  const { container, one } = setUp();
  for (const partitionId of ['0', '1'])
    await one.updateCheckpoint({ ...place, partitionId, offset: '1', sequenceNumber: 1 });
  expect(await list(one)).toHaveLength(2);
  const [name = ''] = [...container.blobs.keys()];
  container.blobs.set(name, { metadata: {}, etag: 'x' });
  await expect(list(one)).rejects.toThrow("Missing metadata property 'offset'");
});
