import { renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { areSame, stampOf, stampsNow, watchFiles } from '@device-messaging/telemetry/files.ts';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';

const folder = folderForEach('files');
const file = (name: string) => join(folder, name);
const write = (name: string, text: string) => writeFileSync(file(name), text);
beforeEach(() => {
  write('a', 'first');
  write('b', 'first');
});

const never = 3_600_000;

/** Makes a link, or lets it lead to another file. */
function link(target: string, name: string) {
  symlinkSync(target, file('new'));
  renameSync(file('new'), file(name));
}

/** @param later the files to look at after the first change, instead of the first ones */
async function watched(everyMs = never, first = ['a', 'b'], later = first) {
  let changes = 0;
  const watch = watchFiles(await stampsNow(first.map(file)), everyMs, () => {
    changes += 1;
    return stampsNow(later.map(file));
  });
  onTestFinished(() => watch.close());
  return { watch, found: () => changes };
}

describe('files', () => {
  it('have changed when they are the same at two looks, and are read once', async () => {
    const { watch, found } = await watched();
    await watch.look();
    write('b', 'second');
    await watch.look();
    expect(found()).toBe(0);
    for (let times = 0; times < 3; times += 1) await watch.look();
    expect(found()).toBe(1);
  });

  it('are left alone while one is being written', async () => {
    const { watch, found } = await watched();
    for (const text of ['half', 'of it all', 'half again']) {
      write('a', text);
      await watch.look();
    }
    expect(found()).toBe(0);
    await watch.look();
    expect(found()).toBe(1);
  });

  it('are left alone when they are again as they were at first', async () => {
    link('a', 'c');
    const { watch, found } = await watched(never, ['c']);
    link('b', 'c');
    await watch.look();
    link('a', 'c');
    for (let times = 0; times < 3; times += 1) await watch.look();
    expect(found()).toBe(0);
  });

  it('are those that the last reading named', async () => {
    const { watch, found } = await watched(never, ['a', 'b'], ['a']);
    write('a', 'second');
    for (let times = 0; times < 2; times += 1) await watch.look();
    write('b', 'second');
    for (let times = 0; times < 2; times += 1) await watch.look();
    expect(found()).toBe(1);
  });

  it('are not read after the end, also when the end comes during a look', async () => {
    const { watch, found } = await watched();
    write('a', 'second');
    await watch.look();
    const look = watch.look();
    watch.close();
    await look;
    expect(found()).toBe(0);
  });

  it('are not looked at again when the end comes during a look', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { watch } = await watched(10);
    vi.advanceTimersByTime(10);
    watch.close();
    for (let times = 0; times < 3; times += 1) await watch.look(); // the look of the timer ends meanwhile
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are looked at again and again', async () => {
    const { found } = await watched(1);
    for (const times of [1, 2]) {
      write('a', `change ${times}`);
      await expect.poll(found).toBe(times);
    }
  });
});

describe('what is known of a file', () => {
  it.each<[string, () => void]>([
    ['is written', () => write('a', 'other')],
    ['is touched', () => utimesSync(file('a'), 1, 1)],
    ['has gone', () => rmSync(file('a'))],
    ['is a link that leads to another file', () => link('b', 'a')],
  ])('is another when it %s', async (_, change) => {
    const before = await stampOf(file('a'));
    change();
    expect(await stampOf(file('a'))).not.toBe(before);
  });

  it('of a file that is missing is why it cannot be read', async () =>
    expect(await stampOf(file('missing'))).toBe('ENOENT'));

  it('is the same for the same files with the same stamps', () => {
    const some = new Map([['a', '1']]);
    expect([areSame(some, new Map([['a', '1']])), areSame(some, new Map([['a', '2']]))]).toEqual([true, false]);
    expect(areSame(some, new Map([['b', '1']]))).toBe(false);
    expect([areSame(some, new Map([...some, ['b', '1']])), areSame(some, undefined)]).toEqual([false, false]);
  });
});
