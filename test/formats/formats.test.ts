import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContainerClient } from '@azure/storage-blob';
import { startHub } from 'iot-hub-emulator';
import { describe, expect, it, vi } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { decodeCompletion, isDone } from '../../src/engine/completionMap.ts';
import { decodeCrashRecord } from '../../src/engine/crashRecord.ts';
import { createPartition } from '../../src/engine/partition.ts';
import { createBlobStore } from '../../src/stores/blobCheckpoints.ts';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { idOf, parse } from '../../src/stores/deadLetter.ts';
import { directoriesOf, unusableDirectories, usedDirectories } from '../../src/stores/directories.ts';
import { createFileStore } from '../../src/stores/fileCheckpoints.ts';
import { createDirectory } from '../../src/stores/letterFiles.ts';
import { budgetOf, usual } from '../engine/support/partitions.ts';
import { settings } from '../support/environment.ts';
import { hubEvent } from '../support/events.ts';
import { storageForAll } from '../support/storageAccount.ts';
import { soon } from '../support/waiting.ts';
import { crashRecord, group, letters, place, positions, read, released } from './contents.ts';
import { ids, type RecordedBlob, recordFormats } from './recordFormats.ts';

// What releases have stored, which every later build reads (D376). A fixture is never changed.

const fixtures = 'test/formats/fixtures';
const versions = readdirSync(fixtures);
/** Kept only while a hub runs, or made anew. */
const passing = /(^|\/)hub(\.keys)?(\/|$)/;

const storage = storageForAll();
const directory = folderForEach('formats');

it('1.0.0 is recorded', () => expect(versions).toContain('1.0.0'));

it('this build stores no other kinds of files than its release', async () => {
  await recordFormats(directory);
  const kinds = (root: string) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => !passing.test(file))
      .sort();
  expect(kinds(directory)).toEqual(kinds(join(fixtures, versions.toSorted().at(-1) ?? '')));
});

describe.each(versions)('%s', (version) => {
  const recorded = join(fixtures, version);

  async function expectContents(store: CheckpointStore) {
    const first = await store.progress('0');
    expect(first).toMatchObject(positions.read);
    const done = decodeCompletion(positions.read.sequenceNumber, first?.completed ?? '');
    const numbers = Array.from({ length: 40 }, (_, index) => 101 + index);
    expect(numbers.filter((number) => done && isDone(done, number))).toEqual([102, 103, 104, 131]);
    const second = await store.progress('1');
    expect(second).toMatchObject(positions.released);
    expect(decodeCrashRecord(second?.note)).toEqual(crashRecord);
    const seen = await store.ownerships();
    expect(seen.find(({ partition }) => partition === '1')).toMatchObject({
      owner: '',
      epoch: 7,
      begun: released.begun,
    });
    expect(seen.find(({ partition }) => partition === '0')).toMatchObject({ epoch: read.epoch });
    return seen;
  }
  it('checkpoints in a file', async () => {
    cpSync(join(recorded, 'checkpoints'), directory, { recursive: true });
    await expectContents(createFileStore(directory, place));
  });
  it('what waited in its spool: it is not done in the checkpoint, and is read again from the hub', async () => {
    const data = { directory };
    cpSync(join(recorded, 'checkpoints'), directoriesOf(data).checkpoints, { recursive: true });
    const spool = join(directory, 'spool');
    mkdirSync(spool);
    writeFileSync(join(spool, '41-0-1767323045678'), 'left by a process that was killed');
    expect(unusableDirectories(usedDirectories({ data, store: { ...settings.store, kind: 'file' } }), 0)).toEqual([]);
    const progress = await createFileStore(directoriesOf(data).checkpoints, place).progress('0');
    const handled: number[] = [];
    const partition = createPartition({
      ...usual,
      ...{ budget: budgetOf(100), progress },
      receivedMessageOf: (event) => ({ event, deviceId: `d${event.sequenceNumber % 3}` }),
      async dispatch({ event }) {
        handled.push(event.sequenceNumber);
        return true;
      },
    });
    const inHub = Array.from({ length: 40 }, (_, index) => hubEvent({ sequenceNumber: 96 + index }));
    await partition.admit(inHub);
    await vi.waitFor(() => expect(partition.pending()).toBe(0), soon);
    const unfinished = inHub.map(({ sequenceNumber }) => sequenceNumber).filter((one) => one > 100);
    expect(handled.toSorted()).toEqual(unfinished.filter((one) => ![102, 103, 104, 131].includes(one)));
    expect(await partition.drain(0)).toBe(0);
    expect(readdirSync(spool)).toHaveLength(1);
  });
  it('checkpoints and ownership in blobs, beside what later builds do not write', async () => {
    const container = new ContainerClient(storage.connectionString, `v${version.replaceAll('.', '-')}`);
    await container.create();
    const all: RecordedBlob[] = JSON.parse(readFileSync(join(recorded, 'blobs.json'), 'utf8'));
    for (const { name, metadata, content } of all)
      await container.getBlockBlobClient(name).upload(content, Buffer.byteLength(content), { metadata });
    const options = { account: storage.connectionString, container: container.containerName, ...group };
    const seen = await expectContents(createBlobStore(options));
    const { owner, wantedBy } = read;
    expect(seen.find(({ partition }) => partition === '0')).toMatchObject({ owner, wantedBy });
  });
  it('dead letters', async () => {
    const storage = createDirectory(join(recorded, 'dead-letters'));
    const found = [];
    for (const { id } of await storage.entries()) found.push(parse((await storage.read(id)) ?? '', id));
    const byNumber = found.toSorted((a, b) => a.event.sequenceNumber - b.event.sequenceNumber);
    expect(byNumber).toEqual(letters);
    expect(byNumber.map(idOf)).toEqual(letters.map(idOf));
  });
  it('derived ids, which two builds side by side must agree on', () =>
    expect(ids()).toEqual(JSON.parse(readFileSync(join(recorded, 'ids.json'), 'utf8'))));

  it('what the hub emulator keeps', async () => {
    cpSync(join(recorded, 'hub'), join(directory, 'hub'), { recursive: true });
    const hub = await startHub({ directory, persist: join(directory, 'hub'), partitions: 1 });
    try {
      expect(hub.registry.get('pump-1')).toMatchObject({ deviceId: 'pump-1' });
      expect(hub.partitions[0]?.last()?.sequenceNumber).toBe(0);
    } finally {
      await hub.close();
    }
  });
});
