import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import type { Dispatch } from '../../src/dispatch/dispatch.ts';
import { choiceOf, deleteLetters, list, show } from '../../src/operations/deadLetterCommands.ts';
import { replayChosen, replaySummaryOf } from '../../src/operations/replay.ts';
import { idOf } from '../../src/stores/deadLetter.ts';
import type { DeadLetters } from '../../src/stores/deadLetterStore.ts';
import { letter, lettersInDirectory } from '../support/letters.ts';
import { withOutput } from '../support/waiting.ts';

const directory = folderForEach('letters');
let store: DeadLetters;
const output = withOutput();
beforeEach(() => (store = lettersInDirectory(directory)));

const id = (number: number, deviceId = 'd1') => idOf(letter(number, { deviceId }));
const remove = (ids: readonly string[], options: Parameters<typeof choiceOf>[0] = {}, isDryRun = false) =>
  deleteLetters(store, { ids, choice: choiceOf(options), isDryRun });

it('an unknown result code is refused, with the nearest one', () => {
  expect(choiceOf({ code: 'timeout_exceeded' }).code).toBe('timeout_exceeded');
  const problem = 'there is no result code timeout_exceded; the nearest is timeout_exceeded';
  expect(() => choiceOf({ code: 'timeout_exceded' })).toThrow(problem);
  expect(() => choiceOf({ code: 'constructor' })).toThrow('there is no result code constructor');
});

it.each(['since', 'before'])('a --%s is a date; anything else is refused', (name) => {
  expect(choiceOf({ [name]: '2026-01-31' })).toMatchObject({ [name]: new Date('2026-01-31') });
  expect(() => choiceOf({ [name]: 'yesterday' })).toThrow(`--${name} must be a date, or a date and time`);
});

it('list prints a line for each dead letter, and names those that cannot be read', async () => {
  const update = { ...letter(1).event, properties: { msgType: 'action', action: 'model.update' } };
  await store.park(letter(1, { event: update }));
  expect(await list(store, choiceOf({}))).toBe(0);
  const first = `${id(1)}  2026-01-02T03:04:05.678Z  "d1"  model.update  timeout_exceeded  attempts 1  why\n`;
  expect([output.printed, output.said]).toEqual([first, '1 dead letters\n']);
  [output.printed, output.said] = ['', ''];
  const event = { ...letter(2).event, properties: { eventType: 'Svc.Device.Created' } };
  await store.park(letter(2, { event, attempts: 7, details: 'said\u001b' }));
  await store.park(letter(3));
  writeFileSync(join(directory, `${id(3)}.json`), '{');
  expect(await list(store, choiceOf({}))).toBe(1);
  const second = `${id(2)}  2026-01-02T03:04:05.678Z  "d1"  Svc.Device.Created  timeout_exceeded  attempts 7  said\\u001b\n`;
  expect(output.printed).toBe(first + second);
  expect(output.said).toBe(`passed over: ${id(3)} is no dead letter of format 1\n2 dead letters\n`);
});

it('show prints a dead letter with its body as text, and refuses an unknown id', async () => {
  for (const [index, body] of [Buffer.from('{"a":1}'), 'text'].entries())
    await store.park(letter(index + 1, { event: { ...letter(index + 1).event, body } }));
  expect(await show(store, id(1))).toBe(0);
  const shown = { id: id(1), deviceId: 'd1', attempts: 1, event: { body: '{"a":1}' } };
  expect(JSON.parse(output.printed)).toMatchObject(shown);
  output.printed = '';
  await show(store, id(2));
  expect(JSON.parse(output.printed)).toMatchObject({ id: id(2), event: { body: 'text' } });
  await expect(show(store, id(3))).rejects.toThrow('there is no dead letter of this id');
});

it('the summary of a replay has each number that is not 0', () => {
  expect(replaySummaryOf({ handled: 0, failed: 0, heldBack: 0, left: 0, gone: 0, unreadable: 0 })).toBe('0 handled');
  expect(replaySummaryOf({ handled: 7, failed: 1, heldBack: 2, left: 3, gone: 4, unreadable: 5 })).toBe(
    '7 handled, 1 failed again and stay, 2 not tried, to keep the order of their device, 3 left when stopped, 4 gone meanwhile, 5 unreadable',
  );
});

it('delete removes dead letters by id, also unreadable ones, and names unknown ids', async () => {
  for (const number of [1, 2, 3]) await store.park(letter(number));
  writeFileSync(join(directory, `${id(2)}.json`), '{');
  expect(await remove([id(1), id(2), id(4)])).toBe(1);
  expect(await store.ids()).toEqual([id(3)]);
  expect(output.printed).toBe(`${id(1)}\n${id(2)}\n`);
  expect(output.said).toBe(`there is no dead letter "${id(4)}"\n2 dead letters deleted\n`);
});

it('delete removes dead letters by device and by age', async () => {
  const old = { parkedAt: new Date('2025-01-01') };
  for (const [index, more] of [old, {}, { ...old, deviceId: 'd2' }].entries())
    await store.park(letter(index + 1, more));
  expect(await remove([], { device: 'd1', before: '2026-01-01' })).toBe(0);
  expect(await store.ids()).toEqual([id(2), id(3, 'd2')].sort());
  expect(await remove([], { device: 'd2' })).toBe(0);
  expect(await store.ids()).toEqual([id(2)]);
  expect(output.printed.split('\n')[0]).toContain(`${id(1)}  2025-01-01T00:00:00.000Z  "d1"`);
});

it('delete has at most 16 requests to the store at once, and prints what it has deleted in order', async () => {
  const ids = Array.from({ length: 40 }, (_, number) => id(number));
  let [open, most] = [0, 0];
  const away = {
    ids: async () => ids,
    read: async () => undefined,
    async remove() {
      open += 1;
      most = Math.max(most, open);
      await Promise.resolve();
      open -= 1;
    },
  };
  expect(await deleteLetters(away, { ids, choice: choiceOf({}), isDryRun: false })).toBe(0);
  expect([most, output.printed]).toEqual([16, `${ids.join('\n')}\n`]);
});

it('delete ends with 1 when one that is meant cannot be read, which stays', async () => {
  for (const number of [1, 2]) await store.park(letter(number));
  writeFileSync(join(directory, `${id(1)}.json`), '{');
  expect(await remove([], { device: 'd1' })).toBe(1);
  expect(await store.ids()).toEqual([id(1)]);
});

it('delete removes nothing in a dry run', async () => {
  await store.park(letter(1));
  expect(await remove([], { device: 'd1' }, true)).toBe(0);
  expect(await store.ids()).toEqual([id(1)]);
  expect(output.printed).toContain(id(1));
  expect(output.said).toBe('Dry run: 1 dead letters would be deleted\n');
});

it('delete removes nothing without a selection, or with two', async () => {
  await store.park(letter(1));
  await expect(remove([])).rejects.toThrow('delete which ones?');
  await expect(remove([id(1)], { device: 'd1' })).rejects.toThrow('ids or options, not both');
  expect(await store.ids()).toEqual([id(1)]);
});

describe('a replay', () => {
  let closed: number;
  beforeEach(async () => {
    for (const number of [1, 2, 3]) await store.park(letter(number));
    closed = 0;
  });

  const warning = 'These older messages can overwrite what devices have sent since.\n';

  /** @param dispatchOf what handles messages, and parks those that fail in this store */
  const replayAll = (dispatchOf: (parking: DeadLetters) => Dispatch, isDryRun = false) =>
    replayChosen(store, choiceOf({}), {
      isDryRun,
      open: async (parking) => ({
        dispatch: dispatchOf(parking),
        dependenciesOf: () => undefined,
        async close() {
          await new Promise(setImmediate);
          closed += 1;
        },
      }),
    });

  it('says what it does every two seconds, and ends with 0 when all are handled', async () => {
    const times = [2_000, 2_000, 3_999, 4_000, 4_000];
    vi.spyOn(performance, 'now').mockImplementation(() => times.shift() ?? 0);
    const before = process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');
    expect([await replayAll(() => async () => true), closed]).toEqual([0, 1]);
    expect(output.said).toBe(`${warning}3 dead letters to replay\n1 of 3\n3 of 3\n3 handled\n`);
    expect(await store.ids()).toEqual([]);
    expect([closed, process.listenerCount('SIGINT') + process.listenerCount('SIGTERM')]).toEqual([1, before]);
  });

  it('in a dry run only lists what is meant', async () => {
    const dispatch = vi.fn();
    expect(await replayAll(() => dispatch, true)).toBe(0);
    expect(output.said).toBe(`${warning}Dry run: nothing is done. To be replayed:\n3 dead letters\n`);
    expect(output.printed.split('\n').map((line) => line.split('  ')[0])).toEqual([id(1), id(2), id(3), '']);
    expect([dispatch.mock.calls, closed, await store.ids()]).toEqual([[], 0, [id(1), id(2), id(3)]]);
  });

  it('ends with 1 when one fails again, and says why', async () => {
    const again =
      (parking: DeadLetters): Dispatch =>
      async ({ event }) => {
        if (event.sequenceNumber === 2) await parking.park({ ...letter(2, { details: 'again\u001b' }), event });
        return true;
      };
    expect(await replayAll(again)).toBe(1);
    expect(output.said).toContain(`${id(2)} failed again: timeout_exceeded, again\\u001b\n`);
    expect(output.said).toMatch(
      /\n1 handled, 1 failed again and stay, 1 not tried, to keep the order of their device\n$/,
    );
    expect(await store.ids()).toEqual([id(2), id(3)]);
  });

  it('ends with 1 when one cannot be read, and with 0 when others were deleted meanwhile', async () => {
    writeFileSync(join(directory, `${id(2)}.json`), '{');
    expect(await replayAll(() => async () => true)).toBe(1);
    expect(output.said).toContain(`passed over: ${id(2)} is no dead letter of format 1\n2 dead letters to replay\n`);
    await store.remove(id(2));
    for (const number of [1, 2]) await store.park(letter(number));
    const removing: Dispatch = async () => {
      for (const number of [1, 2]) await lettersInDirectory(directory).remove(id(number));
      return true;
    };
    expect(await replayAll(() => removing)).toBe(0);
    expect(output.said).toMatch(/\n1 handled, 1 gone meanwhile\n$/);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'ends after the one in work at a first %s, at once at a second',
    async (signal) => {
      const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
      /** As if it was sent: no other listener of the process is to hear it. */
      const send = () => (process.listeners(signal).at(-1) as () => void)();
      const stopped: Dispatch = async () => {
        send();
        expect(exit).not.toHaveBeenCalled();
        return true;
      };
      expect(await replayAll(() => stopped)).toBe(1);
      expect(output.said).toContain('stopping after the dead letters in work; once more to end at once\n');
      expect(output.said).toMatch(/\n1 handled, 2 left when stopped\n$/);
      const twice: Dispatch = async () => {
        for (let times = 0; times < 2; times += 1) send();
        return true;
      };
      await replayAll(() => twice);
      expect(exit).toHaveBeenCalledWith(130);
    },
  );

  it('that cannot go on gives back what it has opened', async () => {
    const away = { ...store, read: () => Promise.reject(new Error('no answer')) };
    const before = process.listenerCount('SIGINT');
    const open = async () => ({
      dispatch: async () => true,
      dependenciesOf: () => {
        throw new Error('a defect');
      },
      async close() {
        closed += 1;
      },
    });
    await expect(replayChosen(away, choiceOf({}), { isDryRun: false, open })).rejects.toThrow('no answer');
    expect(closed).toBe(0);
    await expect(replayChosen(store, choiceOf({}), { isDryRun: false, open })).rejects.toThrow('a defect');
    expect([closed, process.listenerCount('SIGINT')]).toEqual([1, before]);
  });
});
