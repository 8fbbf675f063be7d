import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createAcceptedTokens, createConcurrencyLimits } from '../../src/methods/limits.ts';
import { leftByRounds } from '../support/leftByRounds.ts';
import { withFakeTimers } from '../support/waiting.ts';

// The limits of a front door (M8, D44), and which tokens are known (M14).

const bodies = { inAll: 3, ofCaller: 2 };
const limits = () => createConcurrencyLimits({ inFlight: 3, inFlightPerDevice: 2, bodies });
const overloaded = expect.objectContaining({ reason: 'overloaded', retryAfter: 1 });

describe('requests that wait for authorization', () => {
  it('are four for each invocation in progress, and no more', () => {
    const { acquireLookUp } = limits();
    const releases = Array.from({ length: 12 }, () => acquireLookUp(false));
    expect(() => acquireLookUp(false)).toThrow(overloaded);
    releases[5]?.();
    releases[5]?.();
    acquireLookUp(false);
    expect(() => acquireLookUp(false)).toThrow(overloaded);
  });

  it('take no slot of those with recognised tokens', () => {
    const { acquireLookUp } = limits();
    for (const isKnown of [false, true]) {
      for (let many = 0; many < 12; many += 1) acquireLookUp(isKnown);
      expect(() => acquireLookUp(isKnown)).toThrow(overloaded);
    }
  });

  it('take no slot of an invocation', () => {
    const { acquireLookUp, acquireInvocation } = limits();
    for (let many = 0; many < 12; many += 1) acquireLookUp(false);
    for (const device of ['a', 'a', 'b']) acquireInvocation(device, 'caller');
    expect(() => acquireInvocation('b', 'caller')).toThrow(overloaded);
  });
});

it('bodies that are being received are limited for each caller and in total, and release their slots', () => {
  const { acquireBody } = limits();
  const release = acquireBody('a');
  acquireBody('a');
  expect(() => acquireBody('a')).toThrow(/^overloaded: the caller sends 2 bodies at once/);
  acquireBody('b');
  expect(() => acquireBody('c')).toThrow(overloaded);
  release();
  release();
  acquireBody('c');
  expect(() => acquireBody('a')).toThrow(overloaded);
});

it('invocations in progress are limited for each device, and release their slot once', () => {
  const { acquireInvocation } = limits();
  const release = acquireInvocation('a', 'caller');
  acquireInvocation('a', 'caller');
  expect(() => acquireInvocation('a', 'caller')).toThrow(overloaded);
  release();
  release();
  acquireInvocation('a', 'caller');
  expect(() => acquireInvocation('a', 'caller')).toThrow(overloaded);
  acquireInvocation('b', 'caller');
  expect(() => acquireInvocation('c', 'caller')).toThrow(overloaded);
});

it('nothing is left of a caller who has gone', async () => {
  const { acquireBody, acquireInvocation } = limits();
  let callers = 0; // none comes twice, also when it is counted again
  const gone = {
    round() {
      callers += 1;
      const caller = `${'x'.repeat(100_000)}${callers}`; // 10 MB are left if each is remembered
      acquireBody(caller)();
      acquireInvocation('motor-1', caller)();
    },
  };
  expect(await leftByRounds({ 'a caller with a long name': gone })).toEqual({});
});

describe('the share of a caller', () => {
  withFakeTimers();
  beforeEach(() => void vi.advanceTimersByTime(60_000));

  const five = () => createConcurrencyLimits({ inFlight: 100, inFlightPerDevice: 5, bodies }).acquireInvocation;
  const ofDevice = expect.objectContaining({ detail: expect.stringMatching(/^the device has 5 invocations/) });
  const ofCaller = expect.objectContaining({ detail: expect.stringMatching(/^the caller has 4 .* while others ask/) });

  it('is all of a device while no other caller asks, and all but one while others do, so that a refused one gets the next', () => {
    const acquire = five();
    const releases = Array.from({ length: 5 }, () => acquire('motor', 'a'));
    expect(() => acquire('motor', 'b')).toThrow(ofDevice);
    for (const release of releases.slice(0, 2)) release();
    acquire('motor', 'a');
    expect(() => acquire('motor', 'a')).toThrow(ofCaller);
    acquire('motor', 'b');
    expect(() => acquire('motor', 'c')).toThrow(ofDevice);
  });

  it('does not grow by repeated requests, or by having no invocation in progress', () => {
    const acquire = five();
    acquire('motor', 'b')();
    const releases = Array.from({ length: 4 }, () => acquire('motor', 'a'));
    for (let again = 0; again < 10; again += 1) expect(() => acquire('motor', 'a')).toThrow(ofCaller);
    for (const release of releases) release();
    for (let many = 0; many < 4; many += 1) acquire('motor', 'a');
    expect(() => acquire('motor', 'a')).toThrow(ofCaller);
  });

  it('is all again when the others have not asked for ten seconds', () => {
    const acquire = five();
    acquire('motor', 'b')();
    for (let many = 0; many < 4; many += 1) acquire('motor', 'a');
    vi.advanceTimersByTime(9_999);
    expect(() => acquire('motor', 'a')).toThrow(ofCaller);
    vi.advanceTimersByTime(1);
    acquire('motor', 'a');
  });

  it('is of one device', () => {
    const acquire = five();
    acquire('pump', 'b');
    for (let many = 0; many < 5; many += 1) acquire('motor', 'a');
  });

  it('is one at least', () => {
    const acquire = createConcurrencyLimits({ inFlight: 9, inFlightPerDevice: 1, bodies }).acquireInvocation;
    acquire('motor', 'b')();
    acquire('motor', 'a')();
    acquire('motor', 'b');
  });
});

describe('tokens that were accepted', () => {
  withFakeTimers();

  it('are remembered for ten minutes', () => {
    const tokens = createAcceptedTokens();
    vi.advanceTimersByTime(1); // the cache takes 0 for no time
    tokens.set('a', true);
    vi.advanceTimersByTime(599_000);
    expect([tokens.has('a'), tokens.has('b')]).toEqual([true, false]);
    vi.advanceTimersByTime(2_000);
    expect(tokens.has('a')).toBe(false);
  });

  it('are ten thousand at most: the oldest are removed', () => {
    const tokens = createAcceptedTokens();
    for (let number = 0; number <= 10_000; number += 1) tokens.set(String(number), true);
    expect([tokens.has('0'), tokens.has('1'), tokens.has('10000')]).toEqual([false, true, true]);
  });
});
