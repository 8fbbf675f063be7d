import { setMaxListeners } from 'node:events';
import { expect, it, vi } from 'vitest';
import { createTroubles } from '../../src/observing/log.ts';
import { createMeter } from '../../src/observing/metrics.ts';
import { Rejection } from '../../src/protocol/rejection.ts';
import { type DeadLetters, LetterRefused } from '../../src/stores/deadLetterStore.ts';
import { createParking } from '../../src/stores/parking.ts';
import { letter } from '../support/letters.ts';
import { readingOf, recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';

// A dead-letter store that is out holds up the message for as long as that takes, and no other (G4).

withFakeTimers();

const why = { code: 'internal_platform_error', details: 'why' } as const;
const failure = new Rejection(why.code, why.details);
const { signal: open } = new AbortController();
setMaxListeners(0, open); // as that of a partition

function setUp(store: Partial<Pick<DeadLetters, 'park' | 'remove'>>) {
  const log = recordingLog();
  const meter = createMeter();
  const nothing = async () => {};
  const deadLetters = { park: vi.fn(store.park ?? nothing), remove: vi.fn(store.remove ?? nothing) };
  const now = () => new Date('2026-01-02T03:04:05.678Z');
  const logged = log as never;
  const parking = createParking({ deadLetters, meter, log: logged, troubles: createTroubles(logged), now });
  const results: string[] = [];
  const waits = vi.fn();
  const park = async (number: number, ended = open) => {
    results.push(`${number} ${await parking.park(letter(number), failure, '00', { ended, waits })}`);
  };
  const told = () => log.lines.map(({ level, message }) => `${level} ${message}`);
  const counted = () => readingOf(meter, 'device_messaging.dead_letters');
  const waiting = () => readingOf(meter, 'device_messaging.dead_letters.waiting')[''] ?? 0;
  const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);
  return { parking, park, results, waits, deadLetters, log, told, counted, waiting, seconds };
}

const never = () => new Promise<void>(() => {});
const refusing = (message: string) => () => Promise.reject(new Error(message));

const isOut = 'error dead letters cannot be written; failed messages wait, and their devices with them';
const isBack = 'info dead letters are written again';

it.each([2, 60])('of a store that is out for %i s, every dead letter is written, once', async (outSeconds) => {
  let isWell = false;
  const written: number[] = [];
  const { park, results, deadLetters, counted, waiting, waits, told, seconds } = setUp({
    async park({ event }) {
      if (!isWell) throw new Error('503');
      written.push(event.sequenceNumber);
    },
  });
  const numbers = Array.from({ length: 50 }, (_, index) => index);
  for (const number of numbers) void park(number);
  await seconds(outSeconds);
  expect([results, waiting(), waits.mock.calls.length >= 50]).toEqual([[], 50, true]);
  const attempts = deadLetters.park.mock.calls.length;
  expect(attempts).toBeLessThan(50 * (6 + outSeconds / 15));
  isWell = true;
  await seconds(15);
  expect([written.toSorted((a, b) => a - b), results.length, waiting()]).toEqual([numbers, 50, 0]);
  expect([counted(), deadLetters.park.mock.calls.length]).toEqual([{ parked: 50 }, attempts + 50]);
  expect([told()[0], told().at(-1), new Set(told()).size]).toEqual([isOut, isBack, 2]);
});

it.each([
  ['at first', 0, 0.5],
  ['then', 0.5, 1],
  ['at last', 30.5, 15],
])('the pause between two attempts is doubled from half a second to 15 s: %s', async (_, after, pause) => {
  const { park, deadLetters, seconds } = setUp({ park: refusing('503') });
  void park(1);
  await seconds(after);
  const before = deadLetters.park.mock.calls.length;
  await seconds(pause - 0.001);
  expect(deadLetters.park).toHaveBeenCalledTimes(before);
  await seconds(0.001);
  expect(deadLetters.park).toHaveBeenCalledTimes(before + 1);
});

it('a message whose writing alone fails keeps no other from being written, and the log tells of it once', async () => {
  const { park, results, told, seconds } = setUp({
    park: ({ event }) => (event.sequenceNumber === 1 ? Promise.reject(new Error('503')) : Promise.resolve()),
  });
  void park(1);
  await seconds(10);
  for (let number = 2; number < 12; number += 1) void park(number);
  await seconds(0);
  expect([results.length, told()]).toEqual([10, [isOut]]);
});

it('one whose partition ends while it waits for its turn is not written any more: the next reader handles it again', async () => {
  const ending = new AbortController();
  const { park, results, deadLetters, seconds } = setUp({ park: never });
  for (let number = 1; number <= 32; number += 1) void park(number);
  void park(33, ending.signal);
  ending.abort();
  await seconds(20);
  await seconds(1);
  expect(results).toEqual(['33 left']);
  expect(deadLetters.park.mock.calls.map(([{ event }]) => event.sequenceNumber)).not.toContain(33);
});

it('a store that does not answer holds up one message that is handled again, and then none for a minute', async () => {
  const { parking, told, seconds } = setUp({ remove: never });
  const released: string[] = [];
  const release = (name: string) => void parking.release(letter(1)).then(() => released.push(name));
  release('first');
  await seconds(2.999);
  expect(released).toEqual([]);
  await seconds(0.001);
  release('second');
  await seconds(0);
  expect(released).toEqual(['first', 'second']);
  await seconds(3);
  const notRemoved = 'warn message handled again, but its dead letter, if any, could not be removed';
  expect(told()).toEqual([notRemoved, notRemoved]);
  for (let number = 0; number <= 100; number += 1) release('more');
  await seconds(0);
  expect(released.filter((name) => name === 'more')).toHaveLength(100);
  await seconds(64);
  release('later');
  await seconds(2.999);
  expect(released).not.toContain('later');
});

it('what a limit or the store refuses is told at once, with what to do and where the message is, and waits for nothing', async () => {
  const { park, results, told, log, counted, waits, seconds } = setUp({
    park: () => Promise.reject(new LetterRefused('too many', 'delete some')),
  });
  void park(7);
  await seconds(0);
  const expected = [['7 refused'], ['error message could not be parked'], { not_parked: 1 }];
  expect([results, told(), counted()]).toEqual(expected);
  const place = { device: 'd1', partition: '0', sequenceNumber: 7, offset: '7000' };
  expect(log.lines[0]?.fields).toMatchObject({ ...place, todo: 'delete some', err: { message: 'too many' } });
  expect(waits).not.toHaveBeenCalled();
});

it('a store that does not answer is out after 20 s, and what it is asked for again is not written a second time', async () => {
  let answer = () => {};
  const { park, results, deadLetters, told, seconds } = setUp({
    park: () => new Promise<void>((resolve) => (answer = resolve)),
  });
  void park(1);
  await seconds(19.999);
  expect(told()).toEqual([]);
  await seconds(0.001);
  expect(told()).toEqual([isOut]);
  await seconds(100);
  expect([results, deadLetters.park.mock.calls.length]).toEqual([[], 1]);
  answer();
  await seconds(15);
  answer();
  await seconds(0);
  expect([results, told()[0], told().at(-1)]).toEqual([['1 parked'], isOut, isBack]);
});

it.each([
  ['pauses', 0],
  ['is being written', 0.5],
])('a message whose partition ends while it %s is left for the next reader', async (_, after) => {
  const ending = new AbortController();
  let fail = () => {};
  const { park, results, deadLetters, waiting, counted, seconds } = setUp({
    park: () => new Promise((_, reject) => (fail = () => reject(new Error('503')))),
  });
  void park(1, ending.signal);
  await seconds(0);
  fail();
  await seconds(after);
  ending.abort();
  fail();
  await seconds(60);
  expect([results, waiting(), counted()]).toEqual([['1 left'], 0, {}]);
  expect(deadLetters.park).toHaveBeenCalledTimes(after === 0 ? 1 : 2);
});

it('a message whose partition has ended since its answer is left when the store does not take it at once', async () => {
  const ending = new AbortController();
  ending.abort();
  let attempts = 0;
  const { park, results, seconds } = setUp({
    // a third attempt would be one too many
    park: () => (++attempts < 3 ? Promise.reject(new Error('503')) : Promise.resolve()),
  });
  void park(1, ending.signal);
  await seconds(1);
  expect([results, attempts]).toEqual([['1 left'], 1]);
});

it('a message whose partition has ended since its answer is written all the same, if the store takes it at once', async () => {
  const { park, results, seconds } = setUp({});
  void park(1, AbortSignal.abort());
  await seconds(0);
  expect(results).toEqual(['1 parked']);
});

it('at most 32 are written at once, and one that has to wait for that while the store is out holds no room', async () => {
  const { park, deadLetters, waits, seconds } = setUp({ park: never });
  for (let number = 0; number < 100; number += 1) void park(number);
  await seconds(20);
  expect([deadLetters.park.mock.calls.length, waits.mock.calls.length]).toEqual([64, 32]);
  void park(100);
  expect(waits).toHaveBeenCalledTimes(33);
});

it.each([
  ['takes 2.999 s', () => new Promise<void>((resolve) => setTimeout(resolve, 2_999)), 2_999, []],
  ['hangs', never, 3_000, ['warn']],
  ['fails', refusing('503'), 0, ['warn']],
])('the removal of a dead letter by a store that %s ends after at most 3 s, and rejects never', async (...given) => {
  const [, remove, lasts, levels] = given;
  const { parking, log, seconds } = setUp({ remove });
  const began = performance.now();
  let ended = Number.NaN;
  void parking.release(letter(7)).then(() => (ended = performance.now() - began));
  await seconds(60);
  expect([ended, log.lines.map(({ level }) => level)]).toEqual([lasts, levels]);
  for (const { fields } of log.lines) expect(fields).toMatchObject({ device: 'd1', partition: '0', sequenceNumber: 7 });
});

it.each([
  [undefined, 1],
  [1, 2],
  [6, 7],
])('a message that was parked %s times before is parked as often and once more', async (attempts, expected) => {
  const { parking, deadLetters } = setUp({});
  const { attempts: _, code: __, details: ___, ...message } = letter(7);
  const given = { ...message, ...(attempts !== undefined && { attempts }) };
  await parking.park(given, failure, '00', { ended: open, waits() {} });
  const parkedAt = new Date('2026-01-02T03:04:05.678Z');
  expect(deadLetters.park).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ ...why, attempts: expected, parkedAt, traceparent: '00' }),
  );
});
