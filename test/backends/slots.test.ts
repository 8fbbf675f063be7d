import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Abandoned, createDeadline } from '../../src/backends/deadline.ts';
import { createSlots, type Slots } from '../../src/backends/slots.ts';
import { rejection } from './harness.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const settle = () => vi.advanceTimersByTimeAsync(0);

/** How many are free, found out by taking them all. */
function freeOf(slots: Slots): number {
  let free = 0;
  while (slots.take()) free += 1;
  for (let taken = 0; taken < free; taken += 1) slots.release();
  return free;
}

function full(count: number): Slots {
  const slots = createSlots(count);
  for (let taken = 0; taken < count; taken += 1) slots.take();
  return slots;
}

/** Stands in the line, and says when it is its turn. */
const standing = (slots: Slots, log: unknown[], name: unknown, seconds = 300, gone?: AbortSignal) =>
  slots.turn(createDeadline(seconds, gone), 'a slot').then(() => log.push(name));

describe('slots', () => {
  it('are as many as there are', () => {
    const slots = createSlots(2);
    expect([slots.take(), slots.take(), slots.take()]).toEqual([true, true, false]);
    slots.release();
    expect([slots.take(), slots.take()]).toEqual([true, false]);
  });

  it('go to who has waited longest, one for each that is given back', async () => {
    const slots = full(2);
    const log: unknown[] = [];
    for (const name of ['a', 'b', 'c']) void standing(slots, log, name);
    await settle();
    expect(log).toEqual([]);
    slots.release();
    await settle();
    expect(log).toEqual(['a']);
    slots.release();
    slots.release();
    await settle();
    expect(log).toEqual(['a', 'b', 'c']);
    expect([slots.take(), vi.getTimerCount()]).toEqual([false, 0]);
  });

  it('are not to be had by who comes later, even in the moment in which one is handed on', async () => {
    const slots = full(1);
    const log: unknown[] = [];
    void standing(slots, log, 'a');
    slots.release();
    expect(slots.take()).toBe(false);
    await settle();
    expect(log).toEqual(['a']);
  });

  it('are waited for no longer than the message has time', async () => {
    const slots = full(1);
    const log: unknown[] = [];
    const refusal = rejection(standing(slots, log, 'a', 1));
    void standing(slots, log, 'b');
    await vi.advanceTimersByTimeAsync(1000);
    expect([(await refusal).code, (await refusal).details]).toEqual([
      'timeout_exceeded',
      'the time of the message was over while waiting for a slot',
    ]);
    slots.release();
    await settle();
    expect(log).toEqual(['b']);
  });

  it('are not waited for any more once the message is taken from us', async () => {
    const slots = full(1);
    const log: unknown[] = [];
    const gone = new AbortController();
    const outcome = standing(slots, log, 'a', 300, gone.signal).catch((error: Error) => error);
    void standing(slots, log, 'b');
    gone.abort();
    await settle();
    expect(await outcome).toBeInstanceOf(Abandoned);
    slots.release();
    await settle();
    expect(log).toEqual(['b']);
  });

  it.each([
    ['before', (abort: () => void, release: () => void) => [abort, release]],
    ['after', (abort: () => void, release: () => void) => [release, abort]],
  ])('are not lost on one that leaves in the very moment, %s it is called', async (_, inOrder) => {
    const slots = full(1);
    const log: unknown[] = [];
    const gone = new AbortController();
    const first = standing(slots, log, 'a', 300, gone.signal).catch(() => log.push('a left'));
    void standing(slots, log, 'b');
    for (const step of inOrder(() => gone.abort(), slots.release)) step();
    await settle();
    await first;
    expect(log.toSorted()).toEqual(['a left', 'b']);
    slots.release();
    expect(freeOf(slots)).toBe(1);
  });

  it('call those in the middle of a long line in order, whoever has left it', async () => {
    const slots = full(1);
    const log: unknown[] = [];
    const gone = new AbortController();
    const stays = (index: number) => index % 3 === 0;
    const all = Array.from({ length: 1000 }, (_, index) =>
      standing(slots, log, index, 300, stays(index) ? undefined : gone.signal).catch(() => undefined),
    );
    expect(getEventListeners(gone.signal, 'abort')).toHaveLength(1);
    for (let index = 0; index < 100; index += 1) slots.release();
    await settle();
    gone.abort();
    await settle();
    for (let index = 100; index < 1000; index += 1) slots.release();
    await Promise.all(all);
    expect(log).toEqual(Array.from({ length: 1000 }, (_, index) => index).filter((at) => at < 100 || stays(at)));
  });

  it('are neither lost nor multiplied, nor handed out of turn, in any course', async () => {
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
        const slots = createSlots(count);
        const waiting = new Map<number, AbortController>();
        const holding = new Set<number>();
        const work: Promise<void>[] = [];
        let comers = 0;
        let latest = -1;

        async function come(seconds: number) {
          const me = comers++;
          if (!slots.take()) {
            const gone = new AbortController();
            waiting.set(me, gone);
            try {
              await slots.turn(createDeadline(seconds, gone.signal), 'a slot');
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
          if (one !== undefined && holding.delete(one)) slots.release();
        }

        for (const one of steps) {
          if (one.does === 'come') work.push(come(one.seconds));
          else if (one.does === 'end') end(one.which);
          else if (one.does === 'leave') [...waiting.values()][one.which % waiting.size]?.abort();
          else await vi.advanceTimersByTimeAsync(one.does === 'wait' ? 500 : 0);
        }
        for (await settle(); holding.size > 0; await settle()) end(0);
        await Promise.all(work);
        expect([waiting.size, freeOf(slots), vi.getTimerCount()]).toEqual([0, count, 0]);
      }),
      { numRuns: 500 },
    );
  });
});
