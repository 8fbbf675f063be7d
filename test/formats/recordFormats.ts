import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContainerClient } from '@azure/storage-blob';
import { startHub } from 'iot-hub-emulator';
import { startAzurite } from '../../sandbox/methods/azurite.ts';
import { encodeCompletion } from '../../src/engine/completionMap.ts';
import { encodeCrashRecord } from '../../src/engine/crashRecord.ts';
import { derivedId, eventId } from '../../src/protocol/event.ts';
import { createBlobStore } from '../../src/stores/blobCheckpoints.ts';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { idOf, print } from '../../src/stores/deadLetter.ts';
import { createFileStore } from '../../src/stores/fileCheckpoints.ts';
import { createDirectory } from '../../src/stores/letterFiles.ts';
import { appendEvent } from '../support/events.ts';
import { crashRecord, group, letters, origin, place, positions, purposes, read, released, runs } from './contents.ts';

export type RecordedBlob = Readonly<{ name: string; metadata: Readonly<Record<string, string>>; content: string }>;

/** Writes every format that this build stores into a folder. */
export async function recordFormats(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  await fill(createFileStore(join(directory, 'checkpoints'), place));
  const storage = createDirectory(join(directory, 'dead-letters'));
  for (const letter of letters) await storage.write(idOf(letter), print(letter));
  write(join(directory, 'blobs.json'), await blobs());
  write(join(directory, 'ids.json'), ids());
  await hubOnDisk(join(directory, 'hub'));
}

const write = (file: string, value: unknown) => writeFileSync(file, `${JSON.stringify(value, null, 1)}\n`);

async function fill(store: CheckpointStore): Promise<void> {
  const note = encodeCrashRecord(crashRecord);
  for (const [record, progress] of [
    [read, { ...positions.read, completed: encodeCompletion(positions.read.sequenceNumber, runs) }],
    [released, { ...positions.released, completed: '', note }],
  ] as const) {
    const claim = { partition: record.partition, owner: 'reader', epoch: record.epoch, wantedBy: '', wantedSince: 0 };
    const claimed = await store.change(undefined, { ...claim, renewedAt: Date.now() });
    if (claimed === undefined || !(await store.writeCheckpoint(claimed, progress)))
      throw new Error('nothing was recorded');
    await store.change(claimed, { ...record, renewedAt: Date.now() });
  }
}

async function blobs(): Promise<RecordedBlob[]> {
  const azurite = await startAzurite();
  try {
    const { connectionString } = azurite;
    const options = { account: connectionString, container: 'recorded', ...group };
    await createBlobStore(options).ownerships(); // makes the container
    await fill(createBlobStore(options));
    const container = new ContainerClient(connectionString, 'recorded');
    const recorded: RecordedBlob[] = [];
    for await (const { name, metadata = {} } of container.listBlobsFlat({ includeMetadata: true })) {
      const content = await container.getBlobClient(name).downloadToBuffer();
      recorded.push({ name, metadata, content: content.toString() });
    }
    return recorded;
  } finally {
    await azurite.close();
  }
}

/** Two builds that work side by side must derive the same ids, or a repeat would leave a second trace. */
export const ids = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    letters.flatMap(({ event, deviceId }) => {
      const id = eventId(event, origin, deviceId);
      return [
        [`event ${event.sequenceNumber}`, id],
        ...purposes.map((purpose) => [`${event.sequenceNumber}: ${purpose}`, derivedId(id, purpose)]),
      ];
    }),
  );

async function hubOnDisk(directory: string): Promise<void> {
  const primaryKey = Buffer.from('the recorded device').toString('base64');
  const hub = await startHub({
    directory: `${directory}.keys`,
    persist: directory,
    partitions: 1,
    devices: [{ deviceId: 'pump-1', primaryKey }],
  });
  const body = Buffer.from('recorded');
  appendEvent(hub.partitions[0], { device: 'pump-1', properties: { name: 'value' }, body });
  await hub.close();
}
