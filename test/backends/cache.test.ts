import { describe, expect, it, vi } from 'vitest';
import { createCache } from '../../src/backends/cache.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { rejection } from './harness.ts';

withFakeTimers();

const asker = (deviceId = 'd1', seconds = 300) => ({ deviceId, deadline: createDeadline(seconds) });

function lookUp() {
  let answer: (value: string | undefined) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const load = vi.fn(
    () =>
      new Promise<string | undefined>((resolve, reject) => {
        answer = resolve;
        fail = reject;
      }),
  );
  return { load, answer: (value: string | undefined) => answer(value), fail: (error: Error) => fail(error) };
}

describe('the cache', () => {
  it('keeps an answer for its lifetime', async () => {
    const cache = createCache<string>(10);
    let version = 0;
    const load = async () => {
      version += 1;
      return `v${version}`;
    };
    const get = () => cache.get(asker(), 'k', 1000, load);
    expect(await get()).toBe('v1');
    vi.advanceTimersByTime(999);
    expect(await get()).toBe('v1');
    vi.advanceTimersByTime(1);
    expect(await get()).toBe('v2');
  });

  it('keeps an answer for ever when its lifetime is infinite', async () => {
    const cache = createCache<string>(10);
    await cache.get(asker(), 'k', Number.POSITIVE_INFINITY, async () => 'v1');
    vi.advanceTimersByTime(365 * 86_400_000);
    expect(await cache.get(asker(), 'k', Number.POSITIVE_INFINITY, async () => 'v2')).toBe('v1');
  });

  it('never gives one device the answer for another', async () => {
    const cache = createCache<string>(10);
    await cache.get(asker('d1'), 'k', 1000, async () => 'of d1');
    expect(await cache.get(asker('d2'), 'k', 1000, async () => 'of d2')).toBe('of d2');
  });

  it('does not keep the answer that something does not exist', async () => {
    const cache = createCache<string>(10);
    expect(await cache.get(asker(), 'k', 1000, async () => undefined)).toBe(undefined);
    expect(await cache.get(asker(), 'k', 1000, async () => 'now')).toBe('now');
  });

  it('does not keep a failure', async () => {
    const cache = createCache<string>(10);
    const failing = cache.get(asker(), 'k', 1000, async () => {
      throw new Error('out');
    });
    await expect(failing).rejects.toThrow('out');
    expect(await cache.get(asker(), 'k', 1000, async () => 'now')).toBe('now');
  });

  it('sends one request for all concurrent calls', async () => {
    const looked = vi.fn();
    const cache = createCache<string>(10, looked);
    const { load, answer } = lookUp();
    const all = [1, 2, 3].map(() => cache.get(asker(), 'k', 1000, load));
    answer('v1');
    expect(await Promise.all(all)).toEqual(['v1', 'v1', 'v1']);
    expect(load).toHaveBeenCalledTimes(1);
    expect(looked.mock.calls).toEqual([['miss'], ['shared'], ['shared']]);
  });

  it('lets no message fail at the deadline of another', async () => {
    const cache = createCache<string>(10);
    const { load, fail } = lookUp();
    const hasty = cache.get(asker('d1', 1), 'k', 1000, load);
    const patient = cache.get(asker('d1'), 'k', 1000, async () => 'own');
    fail(new Error('the message timed out'));
    await expect(hasty).rejects.toThrow('timed out');
    expect(await patient).toBe('own');
  });

  it('lets no message wait for another beyond its own deadline', async () => {
    const cache = createCache<string>(10);
    const { load, answer } = lookUp();
    const patient = cache.get(asker(), 'k', 1000, load);
    const hasty = rejection(cache.get(asker('d1', 1), 'k', 1000, load));
    await vi.advanceTimersByTimeAsync(1000);
    const { code, details } = await hasty;
    expect([code, details]).toEqual([
      'timeout_exceeded',
      'the message timed out while waiting for the same look-up by another message',
    ]);
    answer('v1');
    expect(await patient).toBe('v1');
  });

  it('forgets all of a device, and of that device only', async () => {
    const cache = createCache<string>(10);
    for (const device of ['d1', 'd2']) await cache.get(asker(device), 'k', 1000, async () => 'old');
    cache.forget('d1');
    expect(await cache.get(asker('d1'), 'k', 1000, async () => 'new')).toBe('new');
    expect(await cache.get(asker('d2'), 'k', 1000, async () => 'new')).toBe('old');
  });

  it('does not keep an answer whose request was in progress when the device was forgotten', async () => {
    const cache = createCache<string>(10);
    const { load, answer } = lookUp();
    const early = cache.get(asker(), 'k', 1000, load);
    cache.forget('d1');
    answer('outdated');
    expect(await early).toBe('outdated');
    expect(await cache.get(asker(), 'k', 1000, async () => 'fresh')).toBe('fresh');
  });

  it('keeps answers requested after the device was forgotten, whatever was in progress then', async () => {
    const cache = createCache<string>(10);
    const { load, answer } = lookUp();
    const early = cache.get(asker(), 'k', 1000, load);
    cache.forget('d1');
    await cache.get(asker(), 'k', 1000, async () => 'fresh');
    answer(undefined);
    expect(await early).toBe(undefined);
    expect(await cache.get(asker(), 'k', 1000, async () => 'again')).toBe('fresh');
  });

  it('makes room by forgetting the least recently used device', async () => {
    const cache = createCache<string>(2);
    const load = async () => 'old';
    await cache.get(asker('d1'), 'k', 1000, load);
    await cache.get(asker('d2'), 'k', 1000, load);
    await cache.get(asker('d1'), 'k', 1000, load);
    await cache.get(asker('d3'), 'k', 1000, load);
    const now = async () => 'new';
    expect(await cache.get(asker('d1'), 'k', 1000, now)).toBe('old');
    expect(await cache.get(asker('d2'), 'k', 1000, now)).toBe('new');
  });

  it.each([
    ['is not there', async () => undefined],
    ['cannot be had', () => Promise.reject(new Error('out'))],
  ])('frees the room of what %s', async (_, load) => {
    const cache = createCache<string>(3);
    await cache.get(asker('d1'), 'k', 1000, async () => 'old');
    for (let n = 0; n < 10; n += 1) await cache.get(asker(`other ${n}`), 'k', 1000, load).catch(() => undefined);
    expect(await cache.get(asker('d1'), 'k', 1000, async () => 'new')).toBe('old');
  });

  it('counts a large answer as several', async () => {
    const cache = createCache<ReadonlyMap<string, readonly string[]>>(10);
    const load = (names: number) => async () => new Map([['names', Array(names).fill('x'.repeat(500))]]);
    const kept: number[] = [];
    for (const [index, names] of [0, 1, 8, 20].entries()) {
      await cache.get(asker(`d${index}`), 'k', 1000, load(names));
      kept.push(cache.entries());
    }
    expect(kept).toEqual([1, 2, 1, 1]); // the third leaves no room for the first ones, and the last would not fit
  });

  it.each(['d1', 'd2'])('never exceeds its bound, even if %s asks for everything', async (greedy) => {
    const cache = createCache<string>(3);
    const keys = Array.from({ length: 10 }, (_, index) => `k${index}`);
    for (const device of ['d1', 'd2']) await cache.get(asker(device), 'k', 1000, async () => 'old');
    for (const key of keys) await cache.get(asker(greedy), key, 1000, async () => 'old');
    const found: (string | undefined)[] = [];
    for (const key of keys) found.push(await cache.get(asker(greedy), key, 1000, async () => undefined));
    expect(found.filter((one) => one === 'old').length).toBeLessThanOrEqual(3);
  });
});
