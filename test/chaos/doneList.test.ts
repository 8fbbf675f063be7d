import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { openDoneList } from './doneList.ts';

const folder = folderForEach('done');
const file = () => join(folder, 'done.txt');

it('what one sitting has done, the next one passes over: seeds, and sabotages by their names', async () => {
  const first = await openDoneList(file());
  expect(first.has(7)).toBe(false);
  await first.add(7);
  await first.add('checkpoints early');
  const next = await openDoneList(file());
  expect([7, 'checkpoints early', 77, 'checkpoints'].map(next.has)).toEqual([true, true, false, false]);
});

it('a line that was cut off is not done, and spoils none that follows', async () => {
  await (await openDoneList(file())).add(7);
  appendFileSync(file(), '123');
  const next = await openDoneList(file());
  expect([next.has(7), next.has(123)]).toEqual([true, false]);
  await next.add(1234);
  const last = await openDoneList(file());
  expect([last.has(1234), readFileSync(file(), 'utf8')]).toEqual([true, '7\n123\n1234\n']);
});

it('nothing is kept without a file, and what is no file is no empty list', async () => {
  const list = await openDoneList(undefined);
  await list.add(7);
  expect(list.has(7)).toBe(true);
  await expect(openDoneList(folder)).rejects.toThrow('EISDIR');
});
