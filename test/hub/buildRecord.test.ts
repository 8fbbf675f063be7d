import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { buildBefore, type DurableText } from '../../src/hub/stores/buildRecord.ts';
import { openDurableText } from '../../src/hub/stores/openDurableText.ts';
import { openStore } from '../../src/hub/stores/openStore.ts';
import { storageForAll } from '../support/storageAccount.ts';

const directory = folderForAll('builds');
const storage = storageForAll();
let groups = 0;
beforeAll(() => void mkdirSync(join(directory, 'checkpoints')));
beforeEach(() => {
  groups += 1;
});

const settings = (kind: 'file' | 'blob') =>
  ({
    hub: {
      eventsConnectionString: 'Endpoint=sb://Hub.example/;EntityPath=pumps;SharedAccessKeyName=n;SharedAccessKey=a2V5',
      eventsNamespace: '',
      eventsName: '',
      consumerGroup: `group-${groups}`,
      serviceConnectionString: '',
      hostName: '',
      startPosition: 'earliest',
    },
    data: { directory },
    identity: { kind: '' },
    backends: {},
    store: { kind, connectionString: storage.connectionString, accountUrl: '' },
    checkpoints: { connectionString: '', accountUrl: '', container: 'builds-of-tests' },
  }) as Parameters<typeof openDurableText>[1];

const since = (hour: number) => `2026-01-01T0${hour}:00:00.000Z`;
const built = (build: string, hour = 1, version = '1.0.0') => ({ version, build, since: since(hour) });

describe.each(['file', 'blob'] as const)('the record of builds, kept in a %s', (kind) => {
  const open = () => openDurableText('builds', settings(kind));
  const started = (build: string, hour = 1, version?: string) => buildBefore(open(), built(build, hour, version));

  it('is nothing before the first start', async () => expect(await started('a')).toBeUndefined());

  it('names the build before a deploy, also at later starts of the same build', async () => {
    await started('a', 1);
    expect(await started('b', 2)).toEqual(built('a', 1));
    expect(await started('b', 3)).toEqual(built('a', 1));
    expect(await started('c', 4)).toEqual(built('b', 2));
  });

  it('distinguishes builds of one commit by their version', async () => {
    await started('a', 1, '1.0.0');
    expect(await started('a', 2, '1.0.1')).toEqual(built('a', 1, '1.0.0'));
  });

  it('names the other build to each of two builds that start in turn', async () => {
    await started('a');
    await started('b');
    expect(await started('a')).toMatchObject({ build: 'b' });
    expect(await started('b')).toMatchObject({ build: 'a' });
  });

  it.each(['', '{', '{"builds":[]}', '[{"version":1}]', '[1,2,3]'])('is replaced when it is %j', async (text) => {
    const record = open();
    await record.write(text, (await record.read())?.etag);
    expect(await started('a')).toBeUndefined();
    expect(await started('b')).toMatchObject({ build: 'a' });
  });

  it('is replaced when it is larger than any of ours', async () => {
    await open().write(' '.repeat(70_000), undefined);
    expect(await started('a')).toBeUndefined();
    expect(await started('b')).toMatchObject({ build: 'a' });
  });

  it('is neither a checkpoint nor an ownership', async () => {
    await started('a');
    const store = await openStore(settings(kind));
    expect([await store.checkpoints(), await store.ownerships()]).toEqual([[], []]);
  });
});

it('of two instances that start at the same time with different builds, one names the other', async () => {
  await buildBefore(openDurableText('builds', settings('blob')), built('a'));
  const named = await Promise.all(
    ['b', 'c'].map((build) => buildBefore(openDurableText('builds', settings('blob')), built(build))),
  );
  const [one, other] = named.map((before) => before?.build);
  expect([
    ['a', 'b'],
    ['c', 'a'],
  ]).toContainEqual([one, other]);
});

it('no temporary file is left', async () => {
  await buildBefore(openDurableText('builds', settings('file')), built('a'));
  expect(readdirSync(join(directory, 'checkpoints')).filter((name) => name.endsWith('.new'))).toEqual([]);
});

it('the record is kept in the account of the checkpoints, where they have one of their own', async () => {
  const { checkpoints, store, ...more } = settings('blob');
  const nowhere = storage.connectionString.replace(/BlobEndpoint=[^;]*/, 'BlobEndpoint=http://127.0.0.1:1/nowhere');
  const own = {
    ...more,
    store: { ...store, connectionString: nowhere },
    checkpoints: { ...checkpoints, connectionString: storage.connectionString },
  };
  expect(await openDurableText('builds', own).write('x', undefined)).toBe(true);
  expect(await openDurableText('builds', settings('blob')).read()).toMatchObject({ text: 'x' });
});

it('the record names the build that another instance has recorded meanwhile', async () => {
  let stored = { text: JSON.stringify([built('a')]), etag: '1' };
  let races = 0;
  const record: DurableText = {
    read: async () => stored,
    async write(text, etag) {
      if (races++ < 3) stored = { text: JSON.stringify([built(`other ${races}`)]), etag: `${races + 1}` };
      if (etag !== stored.etag) return false;
      stored = { text, etag: 'last' };
      return true;
    },
  };
  expect(await buildBefore(record, built('b'))).toEqual(built('other 3'));
  expect(JSON.parse(stored.text)).toEqual([built('b'), built('other 3')]);
});

describe('a record in a file', () => {
  const files = () => readdirSync(join(directory, 'checkpoints')).filter((name) => name.includes(`group-${groups}`));

  it('is not taken for missing when the system refuses it', async () => {
    const record = openDurableText('builds', settings('file'));
    await record.write('x', undefined);
    const [name = ''] = files();
    const path = join(directory, 'checkpoints', name);
    symlinkSync(path, `${path}.link`);
    renameSync(`${path}.link`, path);
    await expect(record.read()).rejects.toThrow('ELOOP');
  });

  it('is there as a whole or not at all, and apart from other records', async () => {
    const [builds, endpoints] = [
      openDurableText('builds', settings('file')),
      openDurableText('endpoints', settings('file')),
    ];
    await builds.write('the first', undefined);
    await endpoints.write('another', undefined);
    const [name = ''] = files();
    const path = join(directory, 'checkpoints', name);
    const before = openSync(path, 'r');
    await builds.write('the second', undefined);
    expect([readFileSync(before, 'utf8'), (await builds.read())?.text, (await endpoints.read())?.text]).toEqual([
      ...['the first', 'the second', 'another'],
    ]);
    closeSync(before);
  });
});

it('the record is given up when other instances keep changing it', async () => {
  const record: DurableText = { read: async () => undefined, write: async () => false };
  await expect(buildBefore(record, built('a'))).rejects.toThrow('other instances');
});
