import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { chosenLetters } from '../../src/operations/deadLetterCommands.ts';
import { folderOf, idOf } from '../../src/stores/deadLetter.ts';
import { createDirectory } from '../../src/stores/letterFiles.ts';
import { letter, lettersIn } from '../support/letters.ts';

const directory = folderForEach('letters');

const open = () => lettersIn(createDirectory(directory));
const folder = folderOf('d1');

describe('the directory of dead letters', () => {
  it('is readable by its owner alone, and a hostile device id is no path', async () => {
    await open().park(letter(1, { deviceId: '../../etc/passwd' }));
    const [name = ''] = readdirSync(directory);
    const [file = ''] = readdirSync(join(directory, name));
    expect(name).toMatch(/^[0-9a-f]{32}$/);
    expect(statSync(join(directory, name, file)).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o700);
  });

  it('has old leftovers of crashes and old empty folders removed, but not those of an hour, or copies of an operator', async () => {
    await open().park(letter(1));
    const file = `${idOf(letter(1))}.json`;
    const [oldDraft, draft] = ['01', '02'].map((end) => `${file}.11111111-2222-4333-8444-5555555555${end}`);
    const hours = { [`${oldDraft}`]: 1.1, [`${draft}`]: 0.9, [`${file}.backup`]: 100, [`${file}.1`]: 100 };
    for (const name of Object.keys(hours)) writeFileSync(join(directory, name), '{');
    const [old, young] = [folderOf('gone long ago'), folderOf('gone just now')];
    for (const name of [old, young]) mkdirSync(join(directory, name));
    for (const [name, age] of Object.entries({ ...hours, [old]: 1.1, [young]: 0.9 })) {
      const time = Date.now() / 1000 - age * 3_600;
      utimesSync(join(directory, name), time, time);
    }
    await open().tidy();
    expect(readdirSync(directory).sort()).toEqual([folder, young].sort());
    const left = readdirSync(join(directory, folder)).map((name) => `${folder}/${name}`);
    expect(left.sort()).toEqual([file, `${draft}`, `${file}.backup`, `${file}.1`].sort());
  });

  it('is made again when it has gone, and the log is told', async () => {
    const letters = open();
    await letters.park(letter(1));
    rmSync(directory, { recursive: true });
    await expect(letters.park(letter(2))).rejects.toThrow('ENOENT');
    await letters.park(letter(2));
    expect(await letters.ids()).toEqual([idOf(letter(2))]);
  });

  it('is not taken for empty when the system refuses it', async () => {
    const loop = join(directory, 'loop');
    symlinkSync(loop, loop);
    const letters = lettersIn(createDirectory(loop));
    const calls = [letters.ids, () => letters.ids('d1'), letters.tidy, () => letters.read(idOf(letter(1)))];
    for (const call of calls) await expect(call()).rejects.toThrow('ELOOP');
    await expect(letters.park(letter(1))).rejects.toThrow();
  });

  it('passes over a dead letter that goes away during the listing', async () => {
    for (const number of [1, 2]) await open().park(letter(number));
    const path = join(directory, `${idOf(letter(1))}.json`);
    rmSync(path);
    symlinkSync('nowhere', path); // its name is listed, and nothing is there
    expect(await open().ids()).toEqual([idOf(letter(2))]);
    await open().tidy();
    expect(await open().ids('never parked')).toEqual([]);
  });

  it('leaves no file open, whatever it is', async () => {
    const letters = open();
    for (const number of [1, 2]) await letters.park(letter(number));
    truncateSync(join(directory, `${idOf(letter(2))}.json`), 1024 ** 3);
    const handles = () => readdirSync('/proc/self/fd').length;
    const before = handles();
    for (let times = 0; times < 50; times += 1) {
      await letters.read(idOf(letter(1)));
      await letters.read(idOf(letter(2))).catch(() => {});
    }
    expect(handles() - before).toBeLessThan(25);
  });

  it('keeps other files beside the dead letters', async () => {
    mkdirSync(join(directory, 'lost+found'));
    writeFileSync(join(directory, 'lost+found', 'x.json'), 'x');
    writeFileSync(join(directory, 'README'), 'x');
    await open().park(letter(1));
    expect(await open().ids()).toEqual([idOf(letter(1))]);
  });

  it('skips entries that are larger than any dead letter or are not files, and deletes nothing for them', async () => {
    const letters = open();
    for (const number of [1, 2, 3, 4]) await letters.park(letter(number));
    const [huge = '', pipe = '', within = ''] = [1, 2, 3].map((one) => join(directory, `${idOf(letter(one))}.json`));
    truncateSync(huge, 1024 ** 3);
    for (const path of [pipe, within]) rmSync(path);
    execFileSync('mkfifo', [pipe]);
    mkdirSync(within);
    const again = open();
    await again.tidy();
    const passedOver: string[] = [];
    const listed: number[] = [];
    const choice = { device: undefined, since: undefined, code: undefined };
    for await (const found of chosenLetters(again, choice, ({ message }) => passedOver.push(message)))
      listed.push(found.letter.event.sequenceNumber);
    expect(listed).toEqual([4]);
    expect(passedOver).toEqual([
      expect.stringMatching(`^${huge} has 1073741824 bytes`),
      `${pipe} is no file`,
      `${within} is no file`,
    ]);
  });

  it('rejects a dead letter that cannot be written, and leaves no temporary file', async () => {
    mkdirSync(join(directory, folder));
    mkdirSync(join(directory, `${idOf(letter(1))}.json`)); // a folder where the dead letter belongs
    await expect(open().park(letter(1))).rejects.toThrow();
    expect(readdirSync(join(directory, folder))).toHaveLength(1);
  });
});
