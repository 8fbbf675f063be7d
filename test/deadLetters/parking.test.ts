import { expect, it, vi } from 'vitest';
import type { DeadLetters } from '../../src/deadLetters/deadLetterStore.ts';
import { createParking } from '../../src/deadLetters/parking.ts';
import { createMeter } from '../../src/metrics/meter.ts';
import { Rejection } from '../../src/protocol/rejection.ts';
import { letter } from '../support/letters.ts';
import { recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';

// A dead-letter store that is late, or fails, holds up a message for a limited time, and is told of (G4).

withFakeTimers();

const why = { code: 'internal_platform_error', details: 'why' } as const;
const failure = new Rejection(why.code, why.details);

function setUp(store: Partial<Pick<DeadLetters, 'park' | 'remove'>>) {
  const log = recordingLog();
  const nothing = async () => {};
  const deadLetters = { park: vi.fn(store.park ?? nothing), remove: vi.fn(store.remove ?? nothing) };
  const now = () => new Date('2026-01-02T03:04:05.678Z');
  const parking = createParking({ deadLetters, meter: createMeter(), log: log as never, now });
  const levels = () => log.lines.map(({ level }) => level);
  return { parking, deadLetters, levels, log };
}

/** How long it takes, in milliseconds. */
async function durationOf(work: Promise<void>): Promise<number> {
  const began = performance.now();
  let ended = Number.NaN;
  void work.then(() => (ended = performance.now() - began));
  await vi.advanceTimersByTimeAsync(60_000);
  return ended;
}

const later =
  (ms: number, end: 'resolve' | 'reject' = 'resolve') =>
  () =>
    new Promise<void>((resolve, reject) =>
      setTimeout(() => (end === 'resolve' ? resolve() : reject(new Error('late'))), ms),
    );
const never = () => new Promise<void>(() => {});

it.each([
  ['park', 19_999, 19_999, []],
  ['park', 20_001, 20_000, ['error']],
  ['release', 2_999, 2_999, []],
  ['release', 3_001, 3_000, ['warn']],
] as const)('%s with a store that takes %i ms is waited for %i ms', async (verb, takesMs, waitedMs, told) => {
  const { parking, levels } = setUp({ park: later(takesMs), remove: later(takesMs) });
  const work = verb === 'park' ? parking.park(letter(7), failure, '00') : parking.release(letter(7));
  expect([await durationOf(work), levels()]).toEqual([waitedMs, told]);
});

it.each(['park', 'release'] as const)(
  '%s rejects neither at once nor late, and tells once where the message is',
  async (verb) => {
    for (const store of [
      { park: never, remove: never },
      { park: later(30_000, 'reject'), remove: later(30_000, 'reject') },
      { park: later(0, 'reject'), remove: later(0, 'reject') },
    ]) {
      const { parking, levels, log } = setUp(store);
      await durationOf(verb === 'park' ? parking.park(letter(7), failure, '00') : parking.release(letter(7)));
      expect(levels()).toEqual([verb === 'park' ? 'error' : 'warn']);
      expect(log.lines[0]?.fields).toMatchObject({ device: 'd1', partition: '0', sequenceNumber: 7 });
    }
  },
);

it.each([
  [undefined, 1],
  [1, 2],
  [6, 7],
])('a message that was parked %s times before is parked as often and once more', async (attempts, expected) => {
  const { parking, deadLetters } = setUp({});
  const { attempts: _, code: __, details: ___, ...message } = letter(7);
  await parking.park({ ...message, ...(attempts !== undefined && { attempts }) }, failure, '00');
  const parkedAt = new Date('2026-01-02T03:04:05.678Z');
  expect(deadLetters.park).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ ...why, attempts: expected, parkedAt, traceparent: '00' }),
  );
});
