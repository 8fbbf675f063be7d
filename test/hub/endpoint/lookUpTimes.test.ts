import { expect, it, vi } from 'vitest';
import { createLookUpTimes } from '../../../src/hub/endpoint/lookUpTimes.ts';
import { withFakeTimers } from '../../support/waiting.ts';

withFakeTimers();

const limits = { unreadMs: 30_000, eventlessMs: 120_000 };

/** Asks once a second as the service does. @returns the seconds in which the hub was asked */
function askedIn(
  seconds: number,
  circumstances: (second: number) => { isUnread?: boolean; eventAt?: number },
): number[] {
  const times = createLookUpTimes(limits);
  const asked: number[] = [];
  for (let second = 0; second < seconds; second += 1) {
    const { isUnread = false, eventAt = performance.now() } = circumstances(second);
    if (times.isDue(isUnread, eventAt)) {
      times.asked();
      asked.push(second);
    }
    vi.advanceTimersByTime(1_000);
  }
  return asked;
}

it('a hub whose partitions are read and have events is not asked', () =>
  expect(askedIn(1_000, () => ({}))).toEqual([]));
it('a hub is asked half a minute after a partition is not read any more, and each half a minute until it is', () =>
  expect(askedIn(140, (second) => ({ isUnread: second >= 10 && second < 120 }))).toEqual([40, 70, 100]));
it('a partition that is read again in time, again and again, is no reason', () =>
  expect(askedIn(300, (second) => ({ isUnread: second % 30 > 0 }))).toEqual([]));
it('a hub that sends no event for two minutes is asked, and then every two minutes', () => {
  const last = performance.now();
  expect(askedIn(400, () => ({ eventAt: last }))).toEqual([120, 240, 360]);
});
