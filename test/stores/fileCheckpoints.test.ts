import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { createFileStore } from '../../src/stores/fileCheckpoints.ts';
import { claimed, takeOver } from '../hub/support/claims.ts';

const directory = folderForEach('file-store');

const path = () => join(directory, 'place.json');
const open = () => createFileStore(directory, 'place');

const at = (sequenceNumber: number) => ({ sequenceNumber, offset: `${sequenceNumber}`, completed: '' });

describe('the file of checkpoints', () => {
  it('is readable by its owner alone, and leaves no temporary file', async () => {
    await open().change(undefined, claimed('a', 1));
    expect([readdirSync(directory), statSync(path()).mode & 0o777]).toEqual([['place.json'], 0o600]);
  });

  it('has leftovers of a process that died during a write removed, and none of other places', async () => {
    const others = ['other.json.1.new', 'place.json5.1.new', 'place.json.backup'];
    for (const name of ['place.json.gone.new', 'place.json.gone.map', ...others])
      writeFileSync(join(directory, name), '{');
    await takeOver(open(), 'a');
    await takeOver(createFileStore(directory, 'place 2'), 'b');
    expect(readdirSync(directory).sort()).toEqual([...others, 'place%202.json', 'place.json'].sort());
  });

  it('is not treated as empty when it is invalid', () => {
    for (const text of ['', '{', '[]', '{"format":2}']) {
      writeFileSync(path(), text);
      expect(open).toThrow('is no checkpoint file');
    }
  });

  it('has no owner for any partition when its process has ended', async () => {
    await open().change(undefined, claimed('a', 3));
    expect(await open().ownerships()).toMatchObject([{ partition: '0', owner: '', epoch: 3 }]);
  });

  it('is taken over by a second process at its first use, not when it starts', async () => {
    const first = open();
    const reader = await takeOver(first, 'a');
    const second = open();
    expect(await first.writeCheckpoint(reader, at(1))).toBe(true);
    expect(await second.progress('0')).toMatchObject({ sequenceNumber: 1 });
    expect(await first.writeCheckpoint(reader, at(2))).toBe(false);
    await expect(first.change(reader, claimed('a', 2))).rejects.toThrow('another process');
    await expect(first.ownerships()).rejects.toThrow(
      `another process has taken ${path()}, which serves one instance: when that one has gone, restart this one`,
    );
    expect(JSON.parse(readFileSync(path(), 'utf8')).progress).toMatchObject([{ progress: { sequenceNumber: 1 } }]);
  });

  it('is written after a write that has failed, also at the position that failed; a folder that has gone is made again', async () => {
    const store = open();
    const reader = await takeOver(store, 'a');
    rmSync(directory, { recursive: true });
    await expect(store.writeCheckpoint(reader, at(4))).rejects.toThrow('ENOENT');
    expect(await store.writeCheckpoint(reader, at(4))).toBe(true);
    expect(await open().progress('0')).toEqual(at(4));
    expect([readdirSync(directory), statSync(directory).mode & 0o777]).toEqual([['place.json'], 0o700]);
  });

  it('has for the next process what a partition was released with, until it is claimed again', async () => {
    const store = open();
    const record = await takeOver(store, 'a');
    await store.change(record, { ...record, owner: '', begun: 41 });
    const next = open();
    expect(await next.ownerships()).toMatchObject([{ owner: '', epoch: 1, begun: 41 }]);
    await takeOver(next, 'b');
    const [last] = await open().ownerships();
    expect([last?.epoch, last?.begun]).toEqual([2, undefined]);
  });

  it('is taken at a later use when it could not be taken at the first', async () => {
    const store = open();
    writeFileSync(path(), '{');
    await expect(store.ownerships()).rejects.toThrow('is no checkpoint file');
    rmSync(path());
    expect(await store.ownerships()).toEqual([]);
    expect((await takeOver(store, 'a')).epoch).toBe(1);
  });

  it('is not taken for missing when the system refuses it', () => {
    symlinkSync(path(), path());
    expect(open).toThrow('ELOOP');
  });

  it('leaves no file open', async () => {
    const store = open();
    const reader = await takeOver(store, 'a');
    const handles = () => readdirSync('/proc/self/fd').length;
    const before = handles();
    for (let number = 0; number < 40; number += 1) await store.writeCheckpoint(reader, at(number));
    expect(handles() - before).toBeLessThan(20);
  });

  it('is written again when it was removed', async () => {
    const store = open();
    await store.change(undefined, claimed('a', 1));
    rmSync(path());
    await store.change((await store.ownerships())[0], claimed('a', 2));
    expect(JSON.parse(readFileSync(path(), 'utf8')).ownerships).toMatchObject([{ epoch: 2 }]);
  });

  it('has a checkpoint that comes during the write of others after them, before its writer is answered', async () => {
    const onDisk = () => JSON.parse(readFileSync(path(), 'utf8')).progress[0]?.progress.sequenceNumber;
    const store = open();
    const [reader, other] = [await takeOver(store, 'a', '0'), await takeOver(store, 'a', '1')];
    const found = [1, 2, 3].map(async (sequenceNumber) => {
      const writing = [reader, other].map((one) => store.writeCheckpoint(one, at(sequenceNumber)));
      expect(await Promise.all(writing)).toEqual([true, true]);
      return onDisk();
    });
    for (const [index, number] of (await Promise.all(found)).entries()) expect(number).toBeGreaterThan(index);
    expect(onDisk()).toBe(3);
    await store.writeCheckpoint(reader, at(4));
    expect([onDisk(), readdirSync(directory)]).toEqual([4, ['place.json']]);
    expect(await open().progress('1')).toEqual(at(3));
  });
});
