import { beforeEach, expect, it, vi } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { idOf, print } from '../../src/stores/deadLetter.ts';
import { LetterRefused } from '../../src/stores/deadLetterStore.ts';
import { openDeadLetters } from '../../src/stores/open.ts';
import { settings } from '../support/environment.ts';
import { letter } from '../support/letters.ts';

// Each setting of dead letters, in the unit that its name says.

const directory = folderForEach('letters');
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));

const lettersWith = (changed: Partial<typeof settings.deadLetters>) =>
  openDeadLetters(
    { ...settings, data: { directory }, deadLetters: { ...settings.deadLetters, ...changed } },
    { warn() {} },
  );

it('Dead letters are kept for DEAD_LETTERS_RETENTION_DAYS', async () => {
  const letters = lettersWith({ retentionDays: 3 });
  const began = Date.now();
  await letters.park(letter(1));
  const leftAfter = async (days: number) => {
    vi.setSystemTime(began + days * 86_400_000);
    await letters.tidy();
    return (await letters.ids()).length;
  };
  expect([await leftAfter(2.99), await leftAfter(3.01)]).toEqual([1, 0]);
});

it('All dead letters together have no more than DEAD_LETTERS_MAX_BYTES', async () => {
  const bytes = Buffer.byteLength(print(letter(1)));
  const letters = lettersWith({ maxBytes: 3 * bytes });
  for (const number of [1, 2, 3, 4, 5]) await letters.park(letter(number, { deviceId: `d${number}` }));
  await letters.tidy();
  expect(await letters.ids()).toHaveLength(3);
});

it('Dead letters of one device have no more than a hundredth of DEAD_LETTERS_MAX_BYTES', async () => {
  const bytes = Buffer.byteLength(print(letter(1)));
  const letters = lettersWith({ maxBytes: 300 * bytes });
  for (const number of [1, 2, 3]) await letters.park(letter(number));
  for (const number of [4, 5]) await expect(letters.park(letter(number))).rejects.toThrow(LetterRefused);
  expect(await letters.ids()).toEqual([1, 2, 3].map((number) => idOf(letter(number))));
});
