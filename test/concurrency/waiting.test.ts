import { describe, expect, it, vi } from 'vitest';
import {
  atMost,
  createCondition,
  createRepeating,
  endsWithin,
  inOrder,
  TooLate,
  within,
} from '../../src/concurrency/waiting.ts';
import { withFakeTimers } from '../support/waiting.ts';

it('tasks run up to the limit at once, in the order of arrival, even if some fail', async () => {
  const limited = atMost(3);
  const begun: number[] = [];
  const ends: ((error?: Error) => void)[] = [];
  let [running, most] = [0, 0];
  const arrive = (index: number) =>
    limited(async () => {
      begun.push(index);
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve, reject) => {
        ends[index] = (error) => {
          running -= 1;
          return error ? reject(error) : resolve();
        };
      });
      return index;
    }).catch(({ message }: Error) => message);
  async function end(...indices: readonly number[]) {
    for (const index of indices) {
      ends[index]?.(index % 3 === 0 ? new Error(`${index} failed`) : undefined);
      await new Promise(setImmediate);
    }
  }
  const early = [0, 1, 2, 3, 4, 5].map(arrive);
  await end(1, 0, 2);
  const late = [6, 7, 8].map(arrive);
  await end(4, 3, 5, 6, 7, 8);
  expect(await Promise.all([...early, ...late])).toEqual(['0 failed', 1, 2, '3 failed', 4, 5, '6 failed', 7, 8]);
  expect([begun, most]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8], 3]);
});

it('work in order has its results in the order of its inputs, and begins none after a failure', async () => {
  const begun: number[] = [];
  const ends = new Map<number, (error?: Error) => void>();
  const work = (input: number) => {
    begun.push(input);
    return new Promise<string>((resolve, reject) => {
      ends.set(input, (error) => (error ? reject(error) : resolve(`done ${input}`)));
    });
  };
  const all = inOrder(2, [1, 2, 3], work);
  for (const input of [2, 1, 3]) {
    expect(begun).toHaveLength(input === 2 ? 2 : 3);
    ends.get(input)?.();
    await new Promise(setImmediate);
  }
  expect([await all, begun]).toEqual([
    ['done 1', 'done 2', 'done 3'],
    [1, 2, 3],
  ]);
  const failing = inOrder(2, [4, 5, 6, 7], work);
  ends.get(5)?.(new Error('refused'));
  await expect(failing).rejects.toThrow('refused');
  ends.get(4)?.();
  await new Promise(setImmediate);
  expect(begun).toEqual([1, 2, 3, 4, 5]);
});

describe('a wait with a limit', () => {
  withFakeTimers();
  const later = <T>(ms: number, give: () => T) => new Promise<void>((resolve) => setTimeout(resolve, ms)).then(give);
  const seven = () => 7;
  const fail = () => {
    throw new Error('refused');
  };

  it.each([
    ['a result in time', () => within(later(10, seven), 20), 7],
    ['a failure in time', () => within(later(10, fail), 20).catch(({ message }) => message), 'refused'],
    ['a result too late', () => within(later(20, seven), 10).catch((error) => error instanceof TooLate), true],
    ['a failure too late', () => within(later(20, fail), 10).catch((error) => error instanceof TooLate), true],
    ['an end in time', () => endsWithin(later(10, seven), 20), true],
    ['an end too late', () => endsWithin(later(20, seven), 10), false],
    ['a failure instead of an end', () => endsWithin(later(10, fail), 20).catch(({ message }) => message), 'refused'],
  ])('has %s, and leaves no timer', async (_, wait, expected) => {
    const waited = wait();
    await vi.advanceTimersByTimeAsync(10);
    expect(await waited).toBe(expected);
    await vi.advanceTimersByTimeAsync(10);
    expect([await endsWithin(Promise.resolve(), 1_000_000), vi.getTimerCount()]).toEqual([true, 0]);
  });

  it('a wait for a condition ends at its limit, however long the process has run', async () => {
    await vi.advanceTimersByTimeAsync(60_000);
    const condition = createCondition();
    let isOver = false;
    void condition.waitWhile(() => true, 1_000).then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(500);
    condition.changed();
    await vi.advanceTimersByTimeAsync(499);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(true);
  });
});

describe('what repeats', () => {
  withFakeTimers();

  /** Ends each run when the test says so. */
  function setUp(pauseMs = () => 100) {
    let begun = 0;
    let end = () => {};
    const repeating = createRepeating(() => {
      begun += 1;
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    }, pauseMs);
    return { repeating, begun: () => begun, end: () => end() };
  }

  it('The first run begins at once, and each other one a pause after the end of the previous one', async () => {
    const { repeating, begun, end } = setUp();
    repeating.start();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(begun()).toBe(1);
    end();
    await vi.advanceTimersByTimeAsync(99);
    expect(begun()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun()).toBe(2);
  });

  it('A stop waits for the run in progress, and no other begins', async () => {
    const { repeating, begun, end } = setUp();
    repeating.start();
    await vi.advanceTimersByTimeAsync(1);
    let isStopped = false;
    void repeating.stop().then(() => {
      isStopped = true;
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isStopped).toBe(false);
    end();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([isStopped, begun(), vi.getTimerCount()]).toEqual([true, 1, 0]);
  });

  it('No run begins after a stop in a pause or before the start takes effect', async () => {
    const { repeating, begun } = setUp();
    repeating.start();
    await repeating.stop();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([begun(), vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('The pause is the one that is asked for at the end of the run before it', async () => {
    let ms = 100;
    const { repeating, begun, end } = setUp(() => ms);
    repeating.start();
    await vi.advanceTimersByTimeAsync(1);
    ms = 20;
    end();
    await vi.advanceTimersByTimeAsync(20);
    expect(begun()).toBe(2);
    ms = 300;
    end();
    await vi.advanceTimersByTimeAsync(299);
    expect(begun()).toBe(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun()).toBe(3);
    void repeating.stop();
  });
});
