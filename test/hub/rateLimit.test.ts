import { describe, expect, it } from 'vitest';
import type { SendRefusal } from '../../src/hub/replies/sendFailure.ts';
import { createRateLimit } from '../../src/hub/replies/sendQueue.ts';

const throttled: SendRefusal = { kind: 'later', reason: 'throttled' };

/** A hub and a clock that stands still but when somebody waits. */
function setUp(ceiling = Number.POSITIVE_INFINITY) {
  let time = 1_000_000;
  const adaptiveLimit = createRateLimit(ceiling, 10_000, () => time);

  /** Sends to a hub that refuses what is over its rate at once. */
  function toHubThatRefuses(perSecond: number, seconds: number) {
    const end = time + seconds * 1000;
    let [room, at, taken, refused] = [Math.max(1, perSecond), time, 0, 0];
    while (time < end) {
      const ms = adaptiveLimit.waitMs(0);
      if (ms > 0) {
        time += ms;
        continue;
      }
      room = Math.min(Math.max(1, perSecond), room + ((time - at) / 1000) * perSecond);
      at = time;
      adaptiveLimit.began();
      const isTaken = room >= 1;
      if (isTaken) room -= 1;
      const began = time;
      time += 1;
      adaptiveLimit.settled(began, isTaken ? undefined : throttled);
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
        adaptiveLimit.settled(first.began, undefined);
        taken += 1;
        longest = Math.max(longest, time - first.began);
      }
      const ms = flying.length < mostInFlight ? adaptiveLimit.waitMs(flying.length) : Number.POSITIVE_INFINITY;
      if (ms === 0) {
        adaptiveLimit.began();
        free = Math.max(free, time) + 1000 / perSecond;
        flying.push({ began: time, settles: free });
      } else time = Math.min(time + ms, flying[0]?.settles ?? Number.POSITIVE_INFINITY);
    }
    return { taken: taken / seconds, longestSeconds: longest / 1000 };
  }

  return { adaptiveLimit, toHubThatRefuses, toHubThatHoldsBack, pass: (ms: number) => (time += ms) };
}

describe('after a cut the pace', () => {
  const hub = (kind: SendRefusal['kind'], reason: SendRefusal['reason']): SendRefusal => ({ kind, reason });

  /** The hub has accepted so many replies in one second before it throttles one. */
  function cutAfter(accepted: number, thenMs = 0) {
    const { adaptiveLimit, pass } = setUp();
    for (let sent = 0; sent < accepted; sent += 1) adaptiveLimit.settled(pass(0), undefined);
    const sentAt = pass(thenMs);
    adaptiveLimit.settled(sentAt, throttled);
    return { adaptiveLimit, pass, cutAt: sentAt };
  }

  it.each([
    [0, 70],
    [5, 80.5],
    [10, 91],
    [20, 224],
    [30, 532],
  ])('is after %d s %d replies a second: it grows slowly, then doubles every ten s', (seconds, perSecond) => {
    const { adaptiveLimit, pass } = cutAfter(100);
    pass(seconds * 1_000);
    expect(adaptiveLimit.perSecond()).toBeCloseTo(perSecond, 1);
  });

  it.each([
    [9_000, 70],
    [10_000, 0.5],
  ])('is what the hub has accepted in one of the last ten seconds: %d ms later it is %d', (ms, perSecond) =>
    expect(cutAfter(100, ms).adaptiveLimit.perSecond()).toBe(perSecond),
  );

  it('is cut again from the rate that it had, however much the hub accepted before', () => {
    const { adaptiveLimit, pass } = cutAfter(100);
    adaptiveLimit.settled(pass(1_000), throttled);
    expect(adaptiveLimit.perSecond()).toBeCloseTo(0.7 * 70 * 1.03, 6);
  });

  it('is not cut again by a send that began before the cut, which only delays its growth', () => {
    const { adaptiveLimit, pass, cutAt } = cutAfter(100);
    pass(10_000);
    expect(adaptiveLimit.perSecond()).toBeCloseTo(91, 6);
    adaptiveLimit.settled(cutAt, throttled);
    expect(adaptiveLimit.perSecond()).toBe(70);
  });

  it.each<[cut: boolean, ms: number, what: string, refusal: SendRefusal | undefined]>([
    [true, 5_001, 'accepted', undefined],
    [false, 5_000, 'accepted', undefined],
    [false, 5_001, 'refused for a full queue', hub('later', 'queue_full')],
    [false, 5_001, 'lost with the connection', hub('connection', 'hub_unavailable')],
  ])('was %j for a reply that is after %d ms %s', (isCut, ms, _, refusal) => {
    const { adaptiveLimit, pass } = setUp();
    const sentAt = pass(0);
    pass(ms);
    adaptiveLimit.settled(sentAt, refusal);
    expect(adaptiveLimit.perSecond() !== undefined).toBe(isCut);
  });
});

describe('the pace of replies', () => {
  it('is without limit until the hub shows one', () => {
    const { toHubThatRefuses } = setUp();
    expect(toHubThatRefuses(1_000_000, 1)).toEqual({ taken: 1_000, refused: 0 });
  });

  it.each([100 / 60, 5_000 / 60])('nears %d a second with a hub that refuses more, and stays there', (perSecond) => {
    const { toHubThatRefuses } = setUp();
    toHubThatRefuses(perSecond, 120);
    const { taken, refused } = toHubThatRefuses(perSecond, 600);
    expect(taken / perSecond).toBeGreaterThan(0.75);
    expect(refused / taken).toBeLessThan(0.1);
  });

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
    const { adaptiveLimit, pass } = setUp();
    let began = 1_000_000;
    for (let sent = 0; sent < 500; sent += 1) {
      adaptiveLimit.began();
      adaptiveLimit.settled(began, undefined);
      pass(10);
      began += 10;
    }
    adaptiveLimit.began();
    pass(6_000);
    adaptiveLimit.settled(began, undefined);
    pass(1_000);
    for (let sent = 0; sent < 70; sent += 1) adaptiveLimit.began();
    expect(adaptiveLimit.waitMs(0)).toBeLessThan(1_000);
  });

  it('falls to the minimum when the hub has recently accepted nothing, however much it refused', () => {
    const { adaptiveLimit } = setUp();
    for (let sent = 0; sent < 100; sent += 1) adaptiveLimit.began();
    for (let sent = 0; sent < 99; sent += 1)
      adaptiveLimit.settled(999_999, { kind: 'never', reason: 'unknown_device' });
    adaptiveLimit.settled(999_999, throttled);
    expect(adaptiveLimit.perSecond()).toBe(0.5);
  });

  it('is cut to what the hub has settled, refusals of single full queues included', () => {
    const { adaptiveLimit } = setUp();
    for (let sent = 0; sent < 10; sent += 1) adaptiveLimit.settled(999_999, undefined);
    for (let sent = 0; sent < 90; sent += 1) adaptiveLimit.settled(999_999, { kind: 'later', reason: 'queue_full' });
    adaptiveLimit.settled(999_999, throttled);
    expect(adaptiveLimit.perSecond()).toBe(70);
  });

  it('has no limit again after a time without refusals', () => {
    const { adaptiveLimit, pass } = setUp();
    adaptiveLimit.began();
    adaptiveLimit.settled(1_000_000, throttled);
    pass(1);
    adaptiveLimit.began();
    expect(adaptiveLimit.waitMs(0)).toBeGreaterThan(1_000);
    pass(24 * 3_600_000);
    for (let sent = 0; sent < 100; sent += 1) adaptiveLimit.began();
    expect(adaptiveLimit.waitMs(0)).toBe(0);
  });

  it.each<[what: string, refusal: SendRefusal | undefined, waitMs: number]>([
    ['not lifted by a connection that fails (D36)', { kind: 'connection', reason: 'hub_unavailable' }, 50_000],
    ['begun again by another refusal of everything', { kind: 'hub', reason: 'suspended' }, 60_000],
    ['lifted by a reply that is taken', undefined, 0],
    ['lifted by a full queue', { kind: 'later', reason: 'queue_full' }, 0],
    ['lifted by an unknown device', { kind: 'never', reason: 'unknown_device' }, 0],
  ])('that is paused by a used-up quota is %s', (_, refusal, waitMs) => {
    const { adaptiveLimit, pass } = setUp();
    const began = pass(0);
    adaptiveLimit.settled(began, { kind: 'hub', reason: 'quota' });
    pass(10_000);
    adaptiveLimit.settled(began, refusal);
    expect(adaptiveLimit.waitMs(0)).toBe(waitMs);
    expect(adaptiveLimit.perSecond() === 0).toBe(waitMs > 0);
  });

  it('is reduced once for all replies in progress', () => {
    const { adaptiveLimit, pass } = setUp();
    for (let sent = 0; sent < 100; sent += 1) adaptiveLimit.began();
    pass(1_000);
    for (let sent = 0; sent < 50; sent += 1) adaptiveLimit.settled(1_000_000, undefined);
    for (let sent = 0; sent < 50; sent += 1) adaptiveLimit.settled(1_000_000, throttled);
    expect(adaptiveLimit.perSecond()).toBe(35);
    for (let sent = 0; sent < 10; sent += 1) adaptiveLimit.began();
    expect(adaptiveLimit.waitMs(0)).toBeCloseTo(10_000 / 35 - 100, 6); // sends may begin early by a tenth of a second
    expect(adaptiveLimit.waitMs(69)).toBeCloseTo(10_000 / 35 - 100, 6);
    expect(adaptiveLimit.waitMs(70)).toBe(Number.POSITIVE_INFINITY); // the sends of two seconds
  });
});
