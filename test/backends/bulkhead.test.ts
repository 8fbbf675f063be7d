import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createSemaphore } from '../../src/backends/bulkhead.ts';
import { Cancelled, createDeadline } from '../../src/backends/deadline.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { rejection } from './harness.ts';

withFakeTimers();

const settle = () => vi.advanceTimersByTimeAsync(0);

type Semaphore = ReturnType<typeof createSemaphore>;

/** How many are free, found out by taking them all. */
function freeOf(semaphore: Semaphore): number {
  let free = 0;
  while (semaphore.tryAcquire()) free += 1;
  for (let taken = 0; taken < free; taken += 1) semaphore.release();
  return free;
}

function full(count: number): Semaphore {
  const semaphore = createSemaphore(count);
  for (let taken = 0; taken < count; taken += 1) semaphore.tryAcquire();
  return semaphore;
}

const standing = (semaphore: Semaphore, log: unknown[], name: unknown, seconds = 300, ended?: AbortSignal) =>
  semaphore.acquire(createDeadline(seconds, ended), 'a slot').then(() => log.push(name));

describe('the semaphore', () => {
  it('grants each released slot to the call that has waited longest', async () => {
    const semaphore = full(2);
    const log: unknown[] = [];
    for (const name of ['a', 'b', 'c']) void standing(semaphore, log, name);
    await settle();
    expect(log).toEqual([]);
    semaphore.release();
    await settle();
    expect(log).toEqual(['a']);
    semaphore.release();
    semaphore.release();
    await settle();
    expect([log, semaphore.tryAcquire(), vi.getTimerCount()]).toEqual([['a', 'b', 'c'], false, 0]);
  });

  it('grants slots to calls with precedence before others, in order of arrival', async () => {
    const semaphore = full(1);
    const log: unknown[] = [];
    for (const name of ['a', 'b']) void standing(semaphore, log, name);
    for (const name of ['first', 'second'])
      void semaphore.acquire(createDeadline(300), 'a slot', true).then(() => log.push(name));
    const late = semaphore.acquire(createDeadline(1), 'a slot', true);
    expect(semaphore.waiting()).toBe(5);
    await expect(Promise.all([late, vi.advanceTimersByTimeAsync(1_000)])).rejects.toThrow();
    for (const count of [1, 2, 3, 4]) {
      semaphore.release();
      await settle();
      expect(log).toHaveLength(count);
    }
    expect([log, semaphore.waiting()]).toEqual([['first', 'second', 'a', 'b'], 0]);
    semaphore.release();
    expect(freeOf(semaphore)).toBe(1);
  });

  it('does not grant a slot to a later call while it is passed to a waiting one', async () => {
    const semaphore = full(1);
    const log: unknown[] = [];
    void standing(semaphore, log, 'a');
    semaphore.release();
    expect(semaphore.tryAcquire()).toBe(false);
    await settle();
    expect(log).toEqual(['a']);
  });

  it('ends the wait of a call at the deadline of its message', async () => {
    const semaphore = full(1);
    const log: unknown[] = [];
    const refusal = rejection(standing(semaphore, log, 'a', 1));
    void standing(semaphore, log, 'b');
    await vi.advanceTimersByTimeAsync(1000);
    const expected = ['timeout_exceeded', 'the message timed out while waiting for a slot'];
    expect([(await refusal).code, (await refusal).details]).toEqual(expected);
    semaphore.release();
    await settle();
    expect(log).toEqual(['b']);
  });

  it('ends the wait of a call when the partition of its message is lost', async () => {
    const semaphore = full(1);
    const log: unknown[] = [];
    const ended = new AbortController();
    const outcome = standing(semaphore, log, 'a', 300, ended.signal).catch((error: Error) => error);
    void standing(semaphore, log, 'b');
    ended.abort();
    await settle();
    expect(await outcome).toBeInstanceOf(Cancelled);
    semaphore.release();
    await settle();
    expect(log).toEqual(['b']);
  });

  it.each([
    ['before', (abort: () => void, release: () => void) => [abort, release]],
    ['after', (abort: () => void, release: () => void) => [release, abort]],
  ])('does not lose a slot to a call that leaves at the same moment, %s it is called', async (_, inOrder) => {
    const semaphore = full(1);
    const log: unknown[] = [];
    const ended = new AbortController();
    const first = standing(semaphore, log, 'a', 300, ended.signal).catch(() => log.push('a left'));
    void standing(semaphore, log, 'b');
    for (const step of inOrder(() => ended.abort(), semaphore.release)) step();
    await settle();
    await first;
    expect(log.toSorted()).toEqual(['a left', 'b']);
    semaphore.release();
    expect(freeOf(semaphore)).toBe(1);
  });

  it('neither loses nor adds slots and grants them in order, in any sequence of calls', async () => {
    const step = fc.oneof(
      {
        arbitrary: fc.record({ does: fc.constant('come' as const), seconds: fc.integer({ min: 1, max: 3 }) }),
        weight: 4,
      },
      {
        arbitrary: fc.record({ does: fc.constantFrom('end' as const, 'leave' as const), which: fc.nat(30) }),
        weight: 3,
      },
      { arbitrary: fc.record({ does: fc.constantFrom('wait' as const, 'settle' as const) }), weight: 1 },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), async (count, steps) => {
        const semaphore = createSemaphore(count);
        const waiting = new Map<number, AbortController>();
        const holding = new Set<number>();
        const work: Promise<void>[] = [];
        let comers = 0;
        let latest = -1;

        async function come(seconds: number) {
          const me = comers++;
          if (!semaphore.tryAcquire()) {
            const ended = new AbortController();
            waiting.set(me, ended);
            try {
              await semaphore.acquire(createDeadline(seconds, ended.signal), 'a slot');
            } catch {
              return;
            } finally {
              waiting.delete(me);
            }
            expect(me).toBeGreaterThan(latest);
            latest = me;
          }
          holding.add(me);
          expect(holding.size).toBeLessThanOrEqual(count);
        }

        function end(which: number) {
          const one = [...holding][which % holding.size];
          if (one !== undefined && holding.delete(one)) semaphore.release();
        }

        for (const one of steps) {
          if (one.does === 'come') work.push(come(one.seconds));
          else if (one.does === 'end') end(one.which);
          else if (one.does === 'leave') [...waiting.values()][one.which % waiting.size]?.abort();
          else await vi.advanceTimersByTimeAsync(one.does === 'wait' ? 500 : 0);
        }
        for (await settle(); holding.size > 0; await settle()) end(0);
        await Promise.all(work);
        expect([waiting.size, freeOf(semaphore)]).toEqual([0, count]);
      }),
      { numRuns: 500 },
    );
  });
});

it('what others hold up does not count', async () => {
  const deadline = createDeadline(10);
  await vi.advanceTimersByTimeAsync(4_000);
  let come = (_: string) => {};
  const waited = deadline.untimed(new Promise<string>((resolve) => (come = resolve)));
  await vi.advanceTimersByTimeAsync(60_000);
  come('room');
  expect([await waited, deadline.remaining()]).toEqual(['room', 6_000]);
});

it('the wait for what others hold up ends with the partition', async () => {
  const ended = new AbortController();
  const waited = createDeadline(10, ended.signal).untimed(new Promise(() => {}));
  ended.abort();
  await expect(waited).rejects.toBeInstanceOf(Cancelled);
});
