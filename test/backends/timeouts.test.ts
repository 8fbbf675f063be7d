import { describe, expect, it, vi } from 'vitest';
import { createTimeouts } from '../../src/backends/timeouts.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

describe('time-outs', () => {
  it('call back once each at their time, from a single timer', () => {
    const timeouts = createTimeouts(1000);
    const began = performance.now();
    const expired: [string, number][] = [];
    for (const name of ['a', 'b', 'c']) {
      timeouts.start(1000, () => expired.push([name, performance.now() - began]));
      vi.advanceTimersByTime(100);
    }
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(10_000);
    expect(expired).toEqual([
      ['a', 1000],
      ['b', 1100],
      ['c', 1200],
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that are cancelled never call back', () => {
    const timeouts = createTimeouts(1000);
    const expired = vi.fn();
    const cancel = [timeouts.start(1000, expired), timeouts.start(20, expired)];
    for (const one of cancel) one();
    vi.advanceTimersByTime(10_000);
    expect(expired).not.toHaveBeenCalled();
  });

  it('of another length are just as exact', () => {
    const timeouts = createTimeouts(1000);
    const expired = vi.fn();
    timeouts.start(1000, () => {});
    timeouts.start(20, expired);
    vi.advanceTimersByTime(19);
    expect(expired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(expired).toHaveBeenCalledOnce();
  });
});
