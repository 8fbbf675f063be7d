import { describe, expect, it } from 'vitest';
import { createConcurrencyLimits } from '../../src/methods/concurrencyLimits.ts';

// The limits of a front door (M8, D44).

const limits = () => createConcurrencyLimits({ inFlight: 3, inFlightPerDevice: 2, bodies: { inAll: 3, ofCaller: 2 } });
const overloaded = expect.objectContaining({ reason: 'overloaded', retryAfter: 1 });

describe('requests that wait for authorization', () => {
  it('are four for each invocation in progress, and no more', () => {
    const { acquireLookUp } = limits();
    const releases = Array.from({ length: 12 }, () => acquireLookUp());
    expect(acquireLookUp).toThrow(overloaded);
    releases[5]?.();
    releases[5]?.();
    acquireLookUp();
    expect(acquireLookUp).toThrow(overloaded);
  });

  it('take no place of an invocation', () => {
    const { acquireLookUp, acquireInvocation } = limits();
    for (let many = 0; many < 12; many += 1) acquireLookUp();
    for (const device of ['a', 'a', 'b']) acquireInvocation(device);
    expect(() => acquireInvocation('b')).toThrow(overloaded);
  });
});

describe('bodies that are being received', () => {
  it('are limited for each caller and in all, and give their places back', () => {
    const { acquireBody } = limits();
    const release = acquireBody('a');
    acquireBody('a');
    expect(() => acquireBody('a')).toThrow(overloaded);
    acquireBody('b');
    expect(() => acquireBody('c')).toThrow(overloaded);
    release();
    release();
    acquireBody('c');
    expect(() => acquireBody('a')).toThrow(overloaded);
  });
});

describe('invocations in progress', () => {
  it('are limited for each device, which gets its place back once', () => {
    const { acquireInvocation } = limits();
    const release = acquireInvocation('a');
    acquireInvocation('a');
    expect(() => acquireInvocation('a')).toThrow(overloaded);
    release();
    release();
    acquireInvocation('a');
    expect(() => acquireInvocation('a')).toThrow(overloaded);
    acquireInvocation('b');
    expect(() => acquireInvocation('c')).toThrow(overloaded);
  });
});
