import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { folderOf, idOf } from '../../src/deadLetters/deadLetter.ts';
import { createDirectory } from '../../src/deadLetters/directory.ts';
import { chosenLetters } from '../../src/operations/deadLetters/choice.ts';
import { letter, lettersIn } from '../support/letters.ts';

const directory = folderForEach('letters');

const open = () => lettersIn(createDirectory(directory));
const folder = folderOf('d1');
const age = (path: string, hours: number) => {
  const time = Date.now() / 1000 - hours * 3_600;
  utimesSync(path, time, time);
};

describe('the directory of dead letters', () => {
  it('is readable by its owner alone, and a hostile device id is no path', async () => {
    await open().park(letter(1, { deviceId: '../../etc/passwd' }));
    const [name = ''] = readdirSync(directory);
    const [file = ''] = readdirSync(join(directory, name));
    expect(name).toMatch(/^[0-9a-f]{32}$/);
    expect(statSync(join(directory, name, file)).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o700);
  });

  it('has old leftovers of crashes and old empty folders removed', async () => {
    await open().park(letter(1));
    const drafts = ['01', '02'].map((end) => `${idOf(letter(1))}.json.11111111-2222-4333-8444-5555555555${end}`);
    for (const draft of drafts) writeFileSync(join(directory, draft), '{');
    const [old = '', fresh = ''] = [folderOf('gone long ago'), folderOf('gone just now')];
    for (const name of [old, fresh]) mkdirSync(join(directory, name));
    age(join(directory, drafts[0] as string), 2);
    age(join(directory, old), 2);
    await open().tidy();
    expect(readdirSync(directory).sort()).toEqual([folder, fresh].sort());
    const left = readdirSync(join(directory, folder)).map((name) => `${folder}/${name}`);
    expect(left.sort()).toEqual([`${idOf(letter(1))}.json`, drafts[1]].sort());
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
    const [huge = '', pipe = '', within = ''] = [1, 2, 3].map((number) =>
      join(directory, `${idOf(letter(number))}.json`),
    );
    truncateSync(huge, 1024 ** 3);
    for (const path of [pipe, within]) rmSync(path);
    execFileSync('mkfifo', [pipe]);
    mkdirSync(within);
    const again = open();
    await again.tidy();
    const passedOver: string[] = [];
    const listed: number[] = [];
    const choice = { device: undefined, since: undefined, code: undefined };
    for await (const found of chosenLetters(again, choice, ({ message }) => passedOver.push(message))) {
      listed.push(found.letter.event.sequenceNumber);
    }
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
