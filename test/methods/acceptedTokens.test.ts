import { describe, expect, it, vi } from 'vitest';
import type { ObjectResult } from '../../src/backends/objectForCaller.ts';
import { createLog } from '../../src/log/log.ts';
import { createAcceptedTokens } from '../../src/methods/acceptedTokens.ts';
import { createConcurrencyLimits } from '../../src/methods/concurrencyLimits.ts';
import { createRequestHandler } from '../../src/methods/requestHandler.ts';
import { noMeter } from '../../src/metrics/meter.ts';
import { createInvocationRecords } from '../../src/observing/invocationRecords.ts';
import { withFakeTimers } from '../support/waiting.ts';

// Which tokens are known, and what that is used for (M14).

withFakeTimers();

describe('tokens that were accepted', () => {
  it('are remembered for ten minutes', () => {
    const tokens = createAcceptedTokens();
    tokens.add('a');
    vi.advanceTimersByTime(599_000);
    expect([tokens.has('a'), tokens.has('b')]).toEqual([true, false]);
    vi.advanceTimersByTime(2_000);
    expect(tokens.has('a')).toBe(false);
  });

  it('are ten thousand at most: the oldest are removed', () => {
    const tokens = createAcceptedTokens();
    for (let number = 0; number <= 10_000; number += 1) tokens.add(String(number));
    expect([tokens.has('0'), tokens.has('1'), tokens.has('10000')]).toEqual([false, true, true]);
  });
});

describe('a request', () => {
  const objectId = '6b0e6a1c-4a59-4b3e-9d3f-0a1c3c1f2a3b';
  const object = { kind: 'object', object: { objectId, type: 'motor@1.0.0', path: 'motor-1' } } as const;
  const refused = (status: 401 | 403) => ({ kind: 'refused', status }) as const;

  /** Looks an object up with each token in turn. @returns whether each was looked up as a known one */
  async function lookUps(turns: readonly [token: string, result: ObjectResult][]): Promise<boolean[]> {
    const known: boolean[] = [];
    const results = turns.map(([, result]) => result);
    const handler = createRequestHandler({
      backends: {
        async readObject(_, __, { isKnown }) {
          known.push(isKnown);
          return results.shift() as ObjectResult;
        },
      },
      invoke: () => expect.unreachable(),
      concurrency: createConcurrencyLimits({ inFlight: 1, inFlightPerDevice: 1, bodies: { inAll: 1, ofCaller: 1 } }),
      invocations: createInvocationRecords({ log: createLog('silent'), meter: noMeter, hubHost: '' }),
    });
    for (const [token] of turns) {
      const request = handler.begin({ correlationId: 'c', objectId, model: 'svc.device', method: 'stop' });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      await request.authorize(headers).catch(() => undefined);
      request.closed(200);
    }
    return known;
  }

  it('is recognised by exactly the accepted token', async () => {
    const tokens = ['good', 'good', 'goo', 'good.', 'Good', 'good'];
    const known = await lookUps(tokens.map((token) => [token, object]));
    expect(known).toEqual([...[false, true, false], ...[false, false, true]]);
  });

  it('is not recognised by a token that was refused later, or always', async () =>
    expect(
      await lookUps([
        ['old', object],
        ['old', refused(401)],
        ['old', refused(401)],
        ['reader', refused(403)],
        ['reader', refused(403)],
      ]),
    ).toEqual([false, true, false, false, false]));

  it('is looked up even when its token is recognised', async () =>
    expect(
      await lookUps([
        ['x', object],
        ['x', refused(403)],
        ['x', object],
      ]),
    ).toEqual([false, true, true]));
});
