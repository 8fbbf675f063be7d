import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileStore } from '../../src/hub/stores/fileStore.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'file-store-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const path = () => join(directory, 'place.json');
const open = () => createFileStore(directory, 'place');
const claimed = (owner: string, epoch: number) => ({
  partition: '0',
  owner,
  epoch,
  wantedBy: '',
  wantedSince: 0,
  renewedAt: 0,
});

describe('the file of checkpoints', () => {
  it('is readable by its owner alone, and no draft of it is left', async () => {
    await open().change(undefined, claimed('a', 1));
    expect(readdirSync(directory)).toEqual(['place.json']);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  it('loses what a process left behind that ended while it wrote', async () => {
    writeFileSync(join(directory, 'place.json.gone.new'), '{');
    writeFileSync(join(directory, 'elsewhere.json.gone.new'), '{');
    await open().ownerships();
    expect(readdirSync(directory).sort()).toEqual(['elsewhere.json.gone.new', 'place.json']);
  });

  it('is not taken for empty when it cannot be understood', () => {
    for (const text of ['', '{', '[]', '{"format":2}']) {
      writeFileSync(path(), text);
      expect(open).toThrow('is no checkpoint file');
    }
  });

  it('says of nobody that it still reads: the process has gone', async () => {
    await open().change(undefined, claimed('a', 3));
    expect(await open().ownerships()).toMatchObject([{ partition: '0', owner: '', epoch: 3 }]);
  });

  it('is taken over by a second process at its first use, not when it starts', async () => {
    const first = open();
    const reader = await first.change(undefined, claimed('a', 1));
    if (reader === undefined) throw new Error('not claimed');
    const second = open();
    expect(await first.writeProgress(reader, { sequenceNumber: 1, offset: '1', completed: '' })).toBe(true);
    expect(await second.progress('0')).toMatchObject({ sequenceNumber: 1 });
    expect(await first.writeProgress(reader, { sequenceNumber: 2, offset: '2', completed: '' })).toBe(false);
    await expect(first.change(reader, claimed('a', 2))).rejects.toThrow('another process');
    await expect(first.ownerships()).rejects.toThrow('another process');
    expect(JSON.parse(readFileSync(path(), 'utf8')).progress).toMatchObject([{ progress: { sequenceNumber: 1 } }]);
  });

  it('is written anew when it was removed', async () => {
    const store = open();
    await store.change(undefined, claimed('a', 1));
    rmSync(path());
    await store.change((await store.ownerships())[0], claimed('a', 2));
    expect(JSON.parse(readFileSync(path(), 'utf8')).ownerships).toMatchObject([{ epoch: 2 }]);
  });
});
