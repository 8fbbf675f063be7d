import type { AxiosAdapter } from 'axios';
import { describe, expect, it, vi } from 'vitest';
import { createAttempt } from '../../src/backends/backend.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import { NoAccessToken } from '../../src/backends/tokens.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { rejection } from './harness.ts';

withFakeTimers();

const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A backend that refuses the first token, each answer and each new token taking its time; there may be no other token. */
function setUp({ answerMs, renewMs, failure }: { answerMs: number; renewMs: number; failure?: Error }) {
  const limits: (number | undefined)[] = [];
  const adapter: AxiosAdapter = async (config) => {
    limits.push(config.timeout);
    await pass(answerMs);
    const status = config.headers.authorization === 'Bearer new' ? 200 : 401;
    return { status, statusText: '', headers: {}, data: Buffer.alloc(0), config };
  };
  const tokens = {
    token: () => 'old',
    async renew() {
      await pass(renewMs);
      if (failure) throw failure;
      return 'new';
    },
    close: async () => {},
  };
  return { limits, attempt: createAttempt({ adapter, maxAnswerBytes: 1000, tokens, name: 'type registry' }) };
}

const outgoing = { method: 'GET', path: '/', headers: {} };

describe('the second attempt, with a new token after a 401,', () => {
  it('has no more time than is left of the message’s', async () => {
    const { limits, attempt } = setUp({ answerMs: 400, renewMs: 500 });
    const reply = attempt(outgoing, 'old', 1_000, createDeadline(1));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await reply).toMatchObject({ status: 200 });
    expect(limits).toEqual([1_000, 100]);
  });

  it('says which token it had, so that no text of its answer passes it on', async () => {
    const { attempt } = setUp({ answerMs: 0, renewMs: 0 });
    const replies = Promise.all(['old', 'new'].map((token) => attempt(outgoing, token, 1_000, createDeadline(1))));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await replies).toMatchObject([
      { status: 200, token: 'new' },
      { status: 200, token: 'new' },
    ]);
  });

  it('has the usual limit of an attempt when the message has more time than that', async () => {
    const { limits, attempt } = setUp({ answerMs: 400, renewMs: 500 });
    const reply = attempt(outgoing, 'old', 1_000, createDeadline(60));
    await vi.advanceTimersByTimeAsync(2_000);
    await reply;
    expect(limits).toEqual([1_000, 1_000]);
  });

  it('is not made when the new token comes after the message’s time', async () => {
    const { limits, attempt } = setUp({ answerMs: 400, renewMs: 700 });
    const refusal = rejection(attempt(outgoing, 'old', 1_000, createDeadline(1)));
    await vi.advanceTimersByTimeAsync(2_000);
    const { code, details } = await refusal;
    const waitedFor = 'the message timed out while waiting for an access token for the type registry';
    expect([code, details, limits]).toEqual(['timeout_exceeded', waitedFor, [1_000]]);
  });

  it.each([
    ['the 401 is the answer', new NoAccessToken('no access token')],
    ['a defect fails the attempt', new TypeError('no function')],
  ])('is not made when there is no new token: %s', async (_, failure) => {
    const { limits, attempt } = setUp({ answerMs: 0, renewMs: 0, failure });
    const reply = attempt(outgoing, 'old', 1_000, createDeadline(1)).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1);
    expect(await reply).toEqual(failure instanceof NoAccessToken ? expect.objectContaining({ status: 401 }) : failure);
    expect(limits).toEqual([1_000]);
  });
});
