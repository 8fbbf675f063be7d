import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContainerClient } from '@azure/storage-blob';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { createBlobStore } from '../../src/stores/blobCheckpoints.ts';
import { UnreadableCheckpoint } from '../../src/stores/checkpointStore.ts';
import { createFileStore } from '../../src/stores/fileCheckpoints.ts';
import { storageForAll } from '../support/storageAccount.ts';
import { takeOver } from './support/claims.ts';

const whole = { sequenceNumber: 41, offset: '4096', completed: '', note: '1 1 60 - -' };
const huge = 'x'.repeat(300);
const notTexts = [5, null, true, ['a'], {}];

/** Undefined: the field is missing. */
const wrong: Readonly<Record<keyof typeof whole, readonly unknown[]>> = {
  sequenceNumber: [-2, -1e300, 1.5, 2 ** 53, 1e300, '41', 'first', '', null, true, [41], {}, undefined],
  offset: ['', '@latest', '-2', "0' or '1", 'two words', 'line\n', 'ö', huge, ...notTexts, undefined],
  completed: [...notTexts, undefined],
  note: notTexts,
};
const everyWrong = Object.entries(wrong).flatMap(([field, values]) => values.map((value) => [field, value] as const));
const names = { sequenceNumber: 'sequence number', offset: 'offset', completed: 'map', note: 'crash record' };
const nameOf = (field: string) => names[field as keyof typeof names];

describe('the file of checkpoints', () => {
  const directory = folderForEach('unreadable');
  const path = () => join(directory, 'place.json');
  const open = () => createFileStore(directory, 'place');
  const other = { partition: '1', progress: { ...whole, sequenceNumber: 7 } };
  const write = (content: object) =>
    writeFileSync(path(), JSON.stringify({ format: 1, place: 'place', ownerships: [], progress: [], ...content }));

  it.each(everyWrong)('refuses %s = %j by name, and returns the other checkpoints', async (field, value) => {
    write({ progress: [{ partition: '0', progress: { ...whole, [field]: value } }, other] });
    const store = open();
    const refusal = await store.progress('0').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UnreadableCheckpoint);
    expect(String(refusal)).toContain(`${path()}, partition 0: its ${nameOf(field)} is `);
    expect(await store.progress('1')).toEqual(other.progress);
  });

  it.each([null, 5, 'text', []])('refuses a checkpoint that is %j, and keeps it unchanged', async (progress) => {
    write({ progress: [{ partition: '0', progress }, other] });
    const store = open();
    await expect(store.progress('0')).rejects.toThrow(UnreadableCheckpoint);
    await takeOver(store, 'a', '1');
    expect(JSON.parse(readFileSync(path(), 'utf8')).progress).toEqual([{ partition: '0', progress }, other]);
  });

  it('does not quote a long value whole', async () => {
    write({ progress: [{ partition: '0', progress: { ...whole, sequenceNumber: 'x'.repeat(100_000) } }] });
    const refusal = await open()
      .progress('0')
      .catch((error: Error) => error.message);
    expect(String(refusal).length).toBeLessThan(400);
  });

  it.each([
    ['of another consumer group', { place: 'another place' }, 'is the checkpoint file of "another place"'],
    ['with a place that is no text', { place: 5 }, 'place: '],
    ['without records of ownership', { ownerships: undefined }, 'ownerships: '],
    ['with checkpoints that are no list', { progress: { 0: whole } }, 'progress: '],
    ['with a partition that has no name', { progress: [{ progress: whole }] }, 'progress.0.partition: '],
    ['with a partition that is a number', { progress: [{ partition: 0, progress: whole }] }, 'progress.0.partition: '],
    ['with a partition twice', { progress: [other, other] }, 'progress: names a partition twice'],
    ['with an owner twice', { ownerships: [other, other] }, 'ownerships: names a partition twice'],
  ])('prevents the start, with its name, when it is %s', (_what, content, why) => {
    write(content);
    expect(open).toThrow(`${path()} is `);
    expect(open).toThrow(why);
    expect(open).toThrow('mend it, or move it away');
  });

  it('is not read when it has 1 GB, and does not block when it is not a file', () => {
    writeFileSync(path(), '');
    truncateSync(path(), 1024 ** 3);
    expect(open).toThrow(`${path()} has 1073741824 bytes`);
    rmSync(path());
    execFileSync('mkfifo', [path()]);
    expect(open).toThrow(`${path()} is no file`);
  });

  it.each([-1, 1.5, 'three', null, 1e300, undefined])(
    'raises the epoch %j to one that the hub takes',
    async (epoch) => {
      write({ ownerships: [{ partition: '0', owner: 'a', epoch, etag: 'e', wantedBy: 'b', wantedSince: 1e300 }] });
      expect(await open().ownerships()).toMatchObject([{ partition: '0', owner: '', epoch: 0, wantedBy: '' }]);
    },
  );

  it.each([-2, 1.5, 'three', null, 1e300])('treats a redelivery horizon of %j as unknown', async (begun) => {
    write({ ownerships: [{ partition: '0', owner: '', epoch: 3, etag: 'e', begun }] });
    const [record] = await open().ownerships();
    expect(record).toMatchObject({ epoch: 3 });
    expect(record).not.toHaveProperty('begun');
  });
});

describe('a blob', () => {
  const storage = storageForAll();
  let container: ContainerClient;
  let groups = 0;
  beforeAll(async () => {
    container = new ContainerClient(storage.connectionString, 'progress');
    await container.create();
  });
  beforeEach(() => (groups += 1));

  const open = () =>
    createBlobStore({
      account: storage.connectionString,
      container: 'progress',
      ...{ namespace: 'hub.example', hub: 'devices', consumerGroup: `g${groups}` },
    });
  const nameOfBlob = (kind: string, partition = '0') => `hub.example/devices/g${groups}/${kind}/${partition}`;
  const put = (name: string, metadata: Record<string, string>) =>
    container.getBlockBlobClient(name).upload('', 0, { metadata });
  const good = { sequencenumber: '41', offset: '4096' };

  const wrongLabels: readonly (readonly [string, Record<string, string>])[] = [
    ...['-2', '1.5', 'five', '1e3', '9007199254740993', '12345678901234567890', ' '].map(
      (sequencenumber) => ['sequence number', { ...good, sequencenumber }] as const,
    ),
    ['sequence number', { offset: '4096' }],
    ['sequence number', { owner: 'somebody', epoch: '3' }],
    ['offset', { sequencenumber: '41' }],
    ...['@latest', '-2', "0' or '1", huge].map((offset) => ['offset', { ...good, offset }] as const),
  ];

  it.each(wrongLabels)('with a wrong %s is refused by name: %j', async (what, labels) => {
    await put(nameOfBlob('checkpoint'), labels);
    await put(nameOfBlob('checkpoint', '1'), good);
    const refusal = await open()
      .progress('0')
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UnreadableCheckpoint);
    expect(String(refusal)).toContain(`the blob ${nameOfBlob('checkpoint')}: its ${what} is `);
    expect(await open().progress('1')).toMatchObject({ sequenceNumber: 41 });
  });

  it.each([
    ['another partition', () => nameOfBlob('checkpoint', '1')],
    ['another consumer group', () => 'hub.example/devices/other/checkpoint/0'],
  ])('with the checkpoint of %s is refused by name', async (_what, of) => {
    await put(nameOfBlob('checkpoint'), { ...good, of: of() });
    await expect(open().progress('0')).rejects.toThrow(`the blob ${nameOfBlob('checkpoint')}: it is a copy of ${of()}`);
  });

  it('names itself in what the service writes', async () => {
    const store = open();
    await store.writeCheckpoint(await takeOver(store, 'a'), whole);
    const { metadata } = await container.getBlobClient(nameOfBlob('checkpoint')).getProperties();
    expect(metadata).toMatchObject({ of: nameOfBlob('checkpoint') });
    expect(await open().progress('0')).toEqual(whole);
  });

  it.each(['-1', '1.5', 'three', '9999999999999999'])(
    'with the epoch %s is claimed with a usable one',
    async (epoch) => {
      await put(nameOfBlob('ownership'), { ownerid: 'a', epoch });
      expect(await open().ownerships()).toMatchObject([{ owner: 'a', epoch: 0 }]);
    },
  );

  it('with times in the future can be taken over: its age is that of its last change', async () => {
    const future = '9007199254740991';
    const given = { ownerid: 'a', epoch: '1', renewedat: future, wantedby: 'b', wantedsince: future };
    await put(nameOfBlob('ownership'), given);
    const [record] = await open().ownerships();
    const soonest = Date.now() + 60_000;
    expect(record?.renewedAt).toBeLessThan(soonest);
    expect(record?.wantedSince).toBeLessThan(soonest);
  });
});
