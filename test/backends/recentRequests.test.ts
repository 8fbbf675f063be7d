import { expect, it, vi } from 'vitest';
import { createRecentRequests } from '../../src/observing/recentRequests.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

const taking = (requests: ReturnType<typeof createRecentRequests>, ms: number) => {
  const request = requests.begin();
  vi.advanceTimersByTime(ms);
  return requests.ended(request);
};

it('One slow request of twenty is outside the 95th percentile, a second one is inside', () => {
  const requests = createRecentRequests();
  expect(requests.recent()).toEqual({ count: 0, p50Ms: null, p95Ms: null, oldestMs: 0 });
  for (let ms = 19; ms >= 1; ms -= 1) expect(taking(requests, ms)).toBe(ms);
  taking(requests, 9_000);
  expect(requests.recent()).toEqual({ count: 20, p50Ms: 10, p95Ms: 19, oldestMs: 0 });
  taking(requests, 9_000);
  expect(requests.recent()).toEqual({ count: 21, p50Ms: 11, p95Ms: 9_000, oldestMs: 0 });
});

it('Only those of the last five minutes count, and the latest 1,024 of them', () => {
  const requests = createRecentRequests();
  taking(requests, 7);
  vi.advanceTimersByTime(300_000);
  expect(requests.recent().count).toBe(1);
  vi.advanceTimersByTime(1);
  expect(requests.recent().count).toBe(0);
  for (let count = 0; count < 2_000; count += 1) taking(requests, count < 976 ? 100 : 1);
  expect(requests.recent()).toEqual({ count: 1_024, p50Ms: 1, p95Ms: 1, oldestMs: 0 });
});

it('The oldest request in progress is reported with its age until it has ended or is dropped', () => {
  const requests = createRecentRequests();
  const [first, second] = [requests.begin(), requests.begin()];
  vi.advanceTimersByTime(40);
  requests.begin();
  expect([requests.underWay(), requests.recent().oldestMs]).toEqual([3, 40]);
  requests.ended(first);
  requests.dropped(second);
  vi.advanceTimersByTime(5);
  expect(requests.recent()).toEqual({ count: 1, p50Ms: 40, p95Ms: 40, oldestMs: 5 });
});
