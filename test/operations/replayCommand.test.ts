import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { idOf } from '../../src/deadLetters/deadLetter.ts';
import type { DeadLetters } from '../../src/deadLetters/deadLetterStore.ts';
import type { Dispatch } from '../../src/dispatch/dispatch.ts';
import { choiceOf } from '../../src/operations/deadLetterCommands.ts';
import { replayChosen } from '../../src/operations/replay.ts';
import { letter, lettersInDirectory } from '../support/letters.ts';
import { withOutput } from '../support/waiting.ts';

const directory = folderForEach('letters');
let store: DeadLetters;
const output = withOutput();
let closed: number;
beforeEach(async () => {
  store = lettersInDirectory(directory);
  for (const number of [1, 2, 3]) await store.park(letter(number));
  closed = 0;
});

const id = (number: number) => idOf(letter(number));
const warning = 'These older messages can overwrite what devices have sent since.\n';

/** @param dispatchOf what handles messages, and parks those that fail in this store */
const replayAll = (dispatchOf: (parking: DeadLetters) => Dispatch, isDryRun = false) =>
  replayChosen(store, choiceOf({}), {
    isDryRun,
    open: async (parking) => ({
      dispatch: dispatchOf(parking),
      requirementOf: () => undefined,
      async close() {
        await new Promise(setImmediate);
        closed += 1;
      },
    }),
  });

it('a replay says what it does every two seconds, and ends with 0 when all are handled', async () => {
  const times = [2_000, 2_000, 3_999, 4_000, 4_000];
  vi.spyOn(performance, 'now').mockImplementation(() => times.shift() ?? 0);
  const before = process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');
  expect([await replayAll(() => async () => true), closed]).toEqual([0, 1]);
  expect(output.said).toBe(`${warning}3 dead letters to replay\n1 of 3\n3 of 3\n3 handled\n`);
  expect(await store.ids()).toEqual([]);
  expect([closed, process.listenerCount('SIGINT') + process.listenerCount('SIGTERM')]).toEqual([1, before]);
});

it('a dry replay only lists what is meant', async () => {
  const dispatch = vi.fn();
  expect(await replayAll(() => dispatch, true)).toBe(0);
  expect(output.said).toBe(`${warning}Dry run: nothing is done. To be replayed:\n3 dead letters\n`);
  expect(output.printed.split('\n').map((line) => line.split('  ')[0])).toEqual([id(1), id(2), id(3), '']);
  expect([dispatch.mock.calls, closed, await store.ids()]).toEqual([[], 0, [id(1), id(2), id(3)]]);
});

it('a replay ends with 1 when one fails again, and says why', async () => {
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

it('a replay ends with 1 when one cannot be read, and with 0 when others were deleted meanwhile', async () => {
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
  'a replay ends after the one in work at the first %s, and at once at the second',
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

it('a replay that cannot go on gives back what it has opened', async () => {
  const away = { ...store, read: () => Promise.reject(new Error('no answer')) };
  const before = process.listenerCount('SIGINT');
  const open = async () => ({
    dispatch: async () => true,
    requirementOf: () => {
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
