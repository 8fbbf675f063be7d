import { expect, it, vi } from 'vitest';
import { createLog } from '../../src/observing/log.ts';
import { createHandling } from '../../src/programs/handling.ts';
import { createDirectory } from '../../src/stores/letterFiles.ts';
import { settings } from '../support/environment.ts';
import { lettersIn } from '../support/letters.ts';
import { withFakeTimers } from '../support/waiting.ts';

const hourMs = 60 * 60_000;

withFakeTimers();

it('Excess dead letters are deleted every hour, whether one is parked or not, and also after a failure', async () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const tidy = vi.fn(() => Promise.reject(new Error('not there')));
  const handling = createHandling(settings, log, {
    deadLetters: { ...lettersIn(createDirectory('no-such-directory')), tidy },
  });
  await vi.advanceTimersByTimeAsync(2 * hourMs);
  expect(tidy).toHaveBeenCalledTimes(2);
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(Array(2).fill('dead letters cannot be tidied up'));
  await handling.close();
  await vi.advanceTimersByTimeAsync(2 * hourMs);
  expect(tidy).toHaveBeenCalledTimes(2);
});
