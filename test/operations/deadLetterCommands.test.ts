import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { idOf } from '../../src/deadLetters/deadLetter.ts';
import type { DeadLetters } from '../../src/deadLetters/deadLetterStore.ts';
import { choiceOf } from '../../src/operations/deadLetters/choiceOptions.ts';
import { deleteLetters } from '../../src/operations/deadLetters/delete.ts';
import { show } from '../../src/operations/deadLetters/show.ts';
import { letter, lettersInDirectory } from '../support/letters.ts';

let directory: string;
let store: DeadLetters;
let printed: string;
let said: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'letters-'));
  store = lettersInDirectory(directory);
  [printed, said] = ['', ''];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += text;
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true });
});

const id = (number: number, deviceId = 'd1') => idOf(letter(number, { deviceId }));
const remove = (ids: readonly string[], options: Parameters<typeof choiceOf>[0] = {}, isDryRun = false) =>
  deleteLetters(store, { ids, choice: choiceOf(options), isDryRun });

it('an unknown result code is refused, with the nearest one', () => {
  expect(choiceOf({ code: 'timeout_exceeded' }).code).toBe('timeout_exceeded');
  expect(() => choiceOf({ code: 'timeout_exceded' })).toThrow(
    'there is no result code timeout_exceded; the nearest is timeout_exceeded',
  );
  expect(() => choiceOf({ code: 'constructor' })).toThrow('there is no result code constructor');
});

it.each(['since', 'before'])('a --%s that is not a time is refused', (name) => {
  expect(() => choiceOf({ [name]: 'yesterday' })).toThrow(`--${name} must be a date`);
});

it('delete removes dead letters by id, also unreadable ones, and names unknown ids', async () => {
  for (const number of [1, 2, 3]) await store.park(letter(number));
  writeFileSync(join(directory, `${id(2)}.json`), '{');
  expect(await remove([id(1), id(2), id(4)])).toBe(1);
  expect(await store.ids()).toEqual([id(3)]);
  expect(printed).toBe(`${id(1)}\n${id(2)}\n`);
  expect(said).toBe(`there is no dead letter "${id(4)}"\n2 dead letters deleted\n`);
});

it('delete removes dead letters by device and by age', async () => {
  const old = { parkedAt: new Date('2025-01-01') };
  for (const [number, more] of [
    [1, old],
    [2, {}],
    [3, { ...old, deviceId: 'd2' }],
  ] as const)
    await store.park(letter(number, more));
  expect(await remove([], { device: 'd1', before: '2026-01-01' })).toBe(0);
  expect(await store.ids()).toEqual([id(2), id(3, 'd2')].sort());
  expect(await remove([], { device: 'd2' })).toBe(0);
  expect(await store.ids()).toEqual([id(2)]);
  expect(printed.split('\n')[0]).toContain(`${id(1)}  2025-01-01T00:00:00.000Z  "d1"`);
});

it('delete removes nothing in a dry run', async () => {
  await store.park(letter(1));
  expect(await remove([], { device: 'd1' }, true)).toBe(0);
  expect(await store.ids()).toEqual([id(1)]);
  expect(printed).toContain(id(1));
  expect(said).toBe('Dry run: 1 dead letters would be deleted\n');
});

it('delete removes nothing without a selection, or with two', async () => {
  await store.park(letter(1));
  await expect(remove([])).rejects.toThrow('delete which ones?');
  await expect(remove([id(1)], { device: 'd1' })).rejects.toThrow('ids or options, not both');
  expect(await store.ids()).toEqual([id(1)]);
});

const ofAction = (number: number, properties: Readonly<Record<string, string>>) => {
  const one = letter(number, { attempts: number });
  return { ...one, event: { ...one.event, properties: { msgType: 'action', ...properties } } };
};
const planOf = async (number: number) => {
  printed = '';
  expect(await show(store, id(number))).toBe(0);
  return JSON.parse(printed).replay;
};
const end = 'then it is deleted, unless it fails through our side again';

it('a dry replay shows the order, the precedence of live messages, the running handling and its waits', async () => {
  const update = { action: 'identity.update', correlationId: 'c', version: '2' };
  for (const number of [1, 2, 3, 4]) await store.park(ofAction(number, update));
  const runs = (times: string) =>
    `identity.update runs again (it has failed ${times}), and waits while the principal manager is out`;
  const newer = (what: string) =>
    `its device has ${what}: when one is handled or deleted meanwhile, this one is not tried`;
  const older = (what: string) => `its device has ${what}: tried first, and when one fails again this one is not tried`;
  expect(await planOf(1)).toEqual([newer('3 newer dead letters'), runs('once'), end]);
  expect(await planOf(3)).toEqual([
    older('2 older dead letters'),
    newer('one newer dead letter'),
    runs('3 times'),
    end,
  ]);
  expect(await planOf(4)).toEqual([older('3 older dead letters'), runs('4 times'), end]);
});

it('a dry replay shows refused messages and those with unknown names', async () => {
  await store.park(ofAction(1, { action: 'model.creat' }));
  expect(await planOf(1)).toEqual(['it is answered that there is no such message', end]);
  await store.park(ofAction(1, { action: 'identity.update', ack: 'sometimes' }));
  expect(await planOf(1)).toEqual([
    'identity.update is refused because of its properties, before any backend is called',
    end,
  ]);
});
