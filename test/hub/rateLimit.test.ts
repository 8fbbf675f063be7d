import { describe, expect, it } from 'vitest';
import { createRateLimit } from '../../src/hub/replies/rateLimit.ts';
import type { SendRefusal } from '../../src/hub/replies/sendFailure.ts';

const throttled: SendRefusal = { kind: 'later', reason: 'throttled' };

/** A hub and a clock that stands still but when somebody waits. */
function setUp(ceiling = Number.POSITIVE_INFINITY) {
  let time = 1_000_000;
  const pace = createRateLimit({ ceiling, answerWithinMs: 10_000, now: () => time });

  /** Sends to a hub that refuses what is over its rate at once. */
  function toHubThatRefuses(perSecond: number, seconds: number) {
    const end = time + seconds * 1000;
    let [room, at, taken, refused] = [Math.max(1, perSecond), time, 0, 0];
    while (time < end) {
      const ms = pace.waitMs(0);
      if (ms > 0) {
        time += ms;
        continue;
      }
      room = Math.min(Math.max(1, perSecond), room + ((time - at) / 1000) * perSecond);
      at = time;
      pace.began();
      const isTaken = room >= 1;
      if (isTaken) room -= 1;
      const began = time;
      time += 1;
      pace.settled(began, isTaken ? undefined : throttled);
      if (isTaken) taken += 1;
      else refused += 1;
    }
    return { taken: taken / seconds, refused: refused / seconds };
  }

  /** Sends to a hub that takes what is over its rate later, with so many in flight at most. */
  function toHubThatHoldsBack(perSecond: number, seconds: number, mostInFlight: number) {
    const end = time + seconds * 1000;
    const flying: { began: number; settles: number }[] = [];
    let [free, taken, longest] = [time, 0, 0];
    while (time < end) {
      for (let first = flying[0]; first !== undefined && first.settles <= time; first = flying[0]) {
        flying.shift();
        pace.settled(first.began, undefined);
        taken += 1;
        longest = Math.max(longest, time - first.began);
      }
      const ms = flying.length < mostInFlight ? pace.waitMs(flying.length) : Number.POSITIVE_INFINITY;
      if (ms === 0) {
        pace.began();
        free = Math.max(free, time) + 1000 / perSecond;
        flying.push({ began: time, settles: free });
      } else time = Math.min(time + ms, flying[0]?.settles ?? Number.POSITIVE_INFINITY);
    }
    return { taken: taken / seconds, longestSeconds: longest / 1000 };
  }

  return { pace, toHubThatRefuses, toHubThatHoldsBack, pass: (ms: number) => (time += ms) };
}

describe('the pace of replies', () => {
  it('is without limit until the hub shows one', () => {
    const { toHubThatRefuses } = setUp();
    expect(toHubThatRefuses(1_000_000, 1)).toEqual({ taken: 1_000, refused: 0 });
  });

  it.each([100 / 60, 5_000 / 60])(
    'approaches %d a second with a hub that refuses more, and stays there',
    (perSecond) => {
      const { toHubThatRefuses } = setUp();
      toHubThatRefuses(perSecond, 120);
      const { taken, refused } = toHubThatRefuses(perSecond, 600);
      expect(taken / perSecond).toBeGreaterThan(0.75);
      expect(refused / taken).toBeLessThan(0.1);
    },
  );

  it('keeps few replies in a hub that delays them, and uses its whole rate', () => {
    const { toHubThatHoldsBack } = setUp();
    toHubThatHoldsBack(100 / 60, 300, 256);
    const { taken, longestSeconds } = toHubThatHoldsBack(100 / 60, 600, 256);
    expect(taken / (100 / 60)).toBeGreaterThan(0.9);
    expect(longestSeconds).toBeLessThan(10);
  });

  it('never exceeds the operator’s rate', () => {
    const { toHubThatRefuses } = setUp(2);
    expect(toHubThatRefuses(1_000_000, 60)).toEqual({ taken: expect.closeTo(2, 1), refused: 0 });
  });

  it('stays below the operator’s rate when the hub refuses it', () => {
    const { toHubThatRefuses } = setUp(10);
    toHubThatRefuses(100 / 60, 120);
    const { taken, refused } = toHubThatRefuses(100 / 60, 600);
    expect(refused / taken).toBeLessThan(0.1);
  });

  it('stays near the hub’s rate when the hub pauses briefly', () => {
    const { pace, pass } = setUp();
    let began = 1_000_000;
    for (let sent = 0; sent < 500; sent += 1) {
      pace.began();
      pace.settled(began, undefined);
      pass(10);
      began += 10;
    }
    pace.began();
    pass(6_000);
    pace.settled(began, undefined);
    pass(1_000);
    for (let sent = 0; sent < 70; sent += 1) pace.began();
    expect(pace.waitMs(0)).toBeLessThan(1_000);
  });

  it('falls to the minimum when the hub has recently accepted nothing, however much it refused', () => {
    const { pace } = setUp();
    for (let sent = 0; sent < 100; sent += 1) pace.began();
    for (let sent = 0; sent < 99; sent += 1) pace.settled(999_999, { kind: 'never', reason: 'unknown_device' });
    pace.settled(999_999, throttled);
    expect(pace.perSecond()).toBe(0.5);
  });

  it('has no limit again after a time without refusals', () => {
    const { pace, pass } = setUp();
    pace.began();
    pace.settled(1_000_000, throttled);
    pass(1);
    pace.began();
    expect(pace.waitMs(0)).toBeGreaterThan(1_000);
    pass(24 * 3_600_000);
    for (let sent = 0; sent < 100; sent += 1) pace.began();
    expect(pace.waitMs(0)).toBe(0);
  });

  it.each<[what: string, refusal: SendRefusal | undefined, waitMs: number]>([
    ['not lifted by a connection that fails (D36)', { kind: 'connection', reason: 'hub_unavailable' }, 50_000],
    ['begun again by another refusal of everything', { kind: 'hub', reason: 'suspended' }, 60_000],
    ['lifted by a reply that is taken', undefined, 0],
    ['lifted by a full queue', { kind: 'later', reason: 'queue_full' }, 0],
    ['lifted by an unknown device', { kind: 'never', reason: 'unknown_device' }, 0],
  ])('that is paused by a used-up quota is %s', (_, refusal, waitMs) => {
    const { pace, pass } = setUp();
    const began = pass(0);
    pace.settled(began, { kind: 'hub', reason: 'quota' });
    pass(10_000);
    pace.settled(began, refusal);
    expect(pace.waitMs(0)).toBe(waitMs);
    expect(pace.perSecond() === 0).toBe(waitMs > 0);
  });

  it('is reduced once for all replies in progress', () => {
    const { pace, pass } = setUp();
    for (let sent = 0; sent < 100; sent += 1) pace.began();
    pass(1_000);
    for (let sent = 0; sent < 50; sent += 1) pace.settled(1_000_000, undefined);
    for (let sent = 0; sent < 50; sent += 1) pace.settled(1_000_000, throttled);
    pace.began();
    pace.began();
    expect(pace.waitMs(0)).toBeLessThan(100); // some 35 a second
  });
});
