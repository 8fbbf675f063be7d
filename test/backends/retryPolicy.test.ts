import { getEventListeners } from 'node:events';
import type { AxiosAdapter } from 'axios';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAttempt, type HttpResponse } from '../../src/backends/backend.ts';
import { createBackends } from '../../src/backends/backends.ts';
import { Cancelled, createDeadline } from '../../src/backends/deadline.ts';
import { createBackOff, createRetries, plainRetryAfter, type RetriesOptions } from '../../src/backends/retryPolicy.ts';
import { NoAccessToken } from '../../src/backends/tokens.ts';
import { createTroubles } from '../../src/observing/log.ts';
import { recordingLog } from '../support/observed.ts';
import type { ScriptedReply } from '../support/scriptedBackend.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { callOf, openBackend, rejection, rejectionBy, scripted, settings } from './harness.ts';

const get = 'GET /objects/o1/models/svc.device';
const put = 'PUT /objects/o1/models/svc.device';
const ok: ScriptedReply = [200, { objectId: 'o1', model: 'svc.device', type: 'pump@1.0.0', version: 1 }];

withFakeTimers();

/** Reads a model from a backend that replies like this, one reply an attempt; all the time it wants passes. */
async function read(
  replies: readonly ScriptedReply[],
  { seconds = 300, ...changes }: { seconds?: number } & Partial<typeof settings> = {},
) {
  const { backends, script, log } = scripted(
    replies.map((reply) => ({ call: get, reply })),
    { circuitFailures: 100, ...changes },
  );
  const began = Date.now();
  const work = backends
    .bind(callOf({ deadline: createDeadline(seconds) }))
    .informationModel.getModel('o1', 'svc.device');
  const ended = work.then(
    () => Date.now() - began,
    () => Date.now() - began,
  );
  let isOver = false;
  void ended.then(() => (isOver = true));
  while (!isOver) await vi.advanceTimersToNextTimerAsync();
  return { work, ms: await ended, attempts: script.calls.length, log };
}

describe('a passing failure', () => {
  it('is retried at growing intervals with jitter, up to a maximum', async () => {
    const { ms } = await read([...Array.from({ length: 9 }, (): ScriptedReply => [503]), ok]);
    expect(ms).toBe(100 + 200 + 400 + 800 + 1600 + 3200 + 6400 + 10_000 + 10_000);
  });

  it.each([
    ['seconds', () => '7', 7100],
    ['a date', () => new Date(Date.now() + 5000).toUTCString(), 5100],
    ['a date that is past', () => new Date(0).toUTCString(), 100],
    ['a date that begins and ends with digits', () => '2030-01-01T00:00:05+00:00', 5100],
    ['nonsense', () => 'soon', 100],
  ])('is retried no sooner than Retry-After asks: %s', async (_, value, expected) => {
    vi.setSystemTime(new Date('2030-01-01T00:00:00Z'));
    const { ms } = await read([[429, undefined, { 'retry-after': value() }], ok]);
    expect(ms).toBe(expected);
  });

  it('ends a message at its deadline, with what it waited for and why', async () => {
    const refusal = await rejection((await read([[503], [503], 'refused', [504]], { seconds: 1 })).work);
    expect(refusal.code).toBe('timeout_exceeded');
    expect(refusal.details).toBe(
      'the message timed out while waiting for the information model to read object model; ' +
        'the last attempt ended with: HTTP 504',
    );
  });

  it('is not even attempted for a message past its deadline', async () => {
    const { backends } = scripted([]);
    const { informationModel } = backends.bind(callOf({ deadline: createDeadline(1) }));
    vi.advanceTimersByTime(2000);
    expect((await rejection(informationModel.getModel('o1', 'svc.device'))).code).toBe('timeout_exceeded');
  });

  it('does not extend an attempt beyond the deadline of the message', async () => {
    const { work, ms } = await read(['hang'], { seconds: 2 });
    const { code, details } = await rejection(work);
    expect([code, details]).toEqual(['timeout_exceeded', expect.stringContaining('no answer in time')]);
    expect(ms).toBe(2000);
  });

  it('does not extend an attempt beyond its own limit', async () =>
    expect((await read(['hang', ok], { attemptTimeoutSeconds: 3 })).ms).toBe(3100));
});

it('HTTP 500 is tried three times, then it is an incident', async () => {
  const { work, attempts, log } = await read([[500], [503], [500], [500]]);
  expect([(await rejection(work)).code, attempts]).toEqual(['internal_platform_error', 4]);
  expect(log.lines.map(({ fields }) => [fields['status'], fields['cause']])).toEqual([[500, 'HTTP 500']]);
});

describe('HTTP 401', () => {
  it('is the service’s fault: retried, with one alert, and never blamed on the device', async () => {
    const { work, log, attempts } = await read([[401], [401], [401], ok]);
    await work;
    expect(attempts).toBe(4);
    expect(log.lines).toEqual([
      { level: 'error', fields: { backend: 'information model' }, message: 'backend refuses our access token' },
      {
        level: 'info',
        fields: { backend: 'information model', times: 3, forSeconds: 1 },
        message: 'backend accepts our access token',
      },
    ]);
  });

  it.each([500, 502, 503, 504, 429, 408])('is not over when a gateway answers HTTP %i instead', async (status) => {
    const { work, log } = await read([[401], [status], [401], ok]);
    await work;
    const expected = ['backend refuses our access token', 'backend accepts our access token'];
    expect(log.lines.map(({ message }) => message)).toEqual(expected);
  });

  it('is a trouble of each backend by itself', () => {
    const log = recordingLog();
    const troubles = createTroubles(log);
    onTestFinished(() => troubles.close());
    for (const key of ['typeRegistry', 'informationModel'] as const) {
      const { backend } = openBackend({ backend: key, troubles });
      for (const [status, accessRefused] of [
        [404, undefined],
        [401, true],
        [503, true],
      ] as const) {
        backend.recordOutcome({ status } as HttpResponse, 'd1', 1_000);
        expect([status, backend.state().accessRefused]).toEqual([status, accessRefused]);
      }
    }
    expect(log.lines.map((of) => of.fields)).toEqual([{ backend: 'type registry' }, { backend: 'information model' }]);
  });
});

it('HTTP 403 is an answer: the call is sent once, no token is renewed, and there is no alert', async () => {
  const issues = { call: 'POST /token', reply: [200, { access_token: 't1', expires_in: 3600 }] } as const;
  const oauth = { token: '', tokenUrl: 'http://login.invalid/token', clientId: 'id', clientSecret: 's3cret/value' };
  const { informationModel, log } = scripted([issues, { call: get, reply: [403] }], oauth);
  await vi.dynamicImportSettled(); // axios
  const work = rejection(informationModel.getModel('o1', 'svc.device'));
  await vi.runAllTimersAsync();
  expect([(await work).code, log.lines]).toEqual(['not_authorized', []]);
});

it.each([
  [['lost', [503]]],
  [['lost', 'refused']],
  [[[502], [429]]],
  [[[500], 'refused']],
  [['refused', 'lost', [503], 'refused']],
] as [ScriptedReply[]][])(
  'a change whose answer may be lost may have taken effect, whatever comes between: %j',
  async (failures) => {
    const { backends, script } = scripted([
      ...failures.map((reply) => ({ call: put, reply })),
      { call: put, reply: [409] },
      { call: get, reply: ok },
    ]);
    const work = rejection(backends.bind(callOf()).informationModel.replaceModel('o1', 'svc.device', '{"version":5}'));
    await vi.runAllTimersAsync();
    expect((await work).code).toBe('http_response_error');
    expect(script.calls.at(-1)?.call).toBe(get);
  },
);

describe('a message whose partition is lost', () => {
  it('does not wait for a Retry-After', async () => {
    const { backends } = scripted([{ call: get, reply: [429, undefined, { 'retry-after': '600' }] }]);
    const ended = new AbortController();
    const deadline = createDeadline(900, ended.signal);
    const work = backends.bind(callOf({ deadline })).informationModel.getModel('o1', 'svc.device');
    const outcome = rejectionBy(Cancelled, work);
    await vi.advanceTimersByTimeAsync(1_000);
    ended.abort();
    expect((await outcome).message).toBe('the partition is no longer read by this instance');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not wait for an access token, and is no incident', async () => {
    const log = recordingLog();
    const adapter = () => new Promise<never>(() => {});
    const backends = createBackends({ ...settings, token: '', tokenUrl: 'http://token.invalid/' }, log, { adapter });
    const ended = new AbortController();
    const deadline = createDeadline(900, ended.signal);
    const work = backends.bind(callOf({ deadline })).informationModel.getModel('o1', 'svc.device');
    ended.abort();
    await expect(work).rejects.toBeInstanceOf(Cancelled);
    expect(log.lines).toEqual([]);
    await backends.close();
  });

  it('does not wait for work that has a limit of its own, whose result is that of the work otherwise', async () => {
    const ended = new AbortController();
    const deadline = createDeadline(900, ended.signal);
    expect(await deadline.unlessCancelled(Promise.resolve(7))).toBe(7);
    const failure = new Error('no such object');
    await expect(deadline.unlessCancelled(Promise.reject(failure))).rejects.toBe(failure);
    const work = deadline.unlessCancelled(new Promise(() => {}));
    expect(vi.getTimerCount()).toBe(0);
    ended.abort();
    await expect(work).rejects.toBeInstanceOf(Cancelled);
  });

  it('does not begin to wait after that', async () => {
    const ended = new AbortController();
    ended.abort();
    const deadline = createDeadline(900, ended.signal);
    const failing = Promise.reject(new Error('too late'));
    await expect(deadline.race(new Promise(() => {}), 'nothing')).rejects.toBeInstanceOf(Cancelled);
    await expect(deadline.race(failing, 'nothing')).rejects.toBeInstanceOf(Cancelled);
    await expect(deadline.pause(1_000)).rejects.toBeInstanceOf(Cancelled);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is listened for once, and keeps only the calls that wait', async () => {
    const ended = new AbortController();
    const deadline = createDeadline(900, ended.signal);
    const adding = vi.spyOn(Set.prototype, 'add');
    const first = deadline.race(Promise.resolve(), 'nothing');
    const waiting = adding.mock.contexts[0] as Set<unknown>;
    expect(waiting.size).toBe(1);
    await first;
    expect(waiting.size).toBe(0);
    const second = deadline.race(Promise.resolve(), 'nothing');
    expect([waiting.size, getEventListeners(ended.signal, 'abort').length]).toEqual([1, 1]);
    await second;
  });
});

/** The retries of a call to a backend whose circuit is in this state. */
function retriesOf(circuit: Partial<RetriesOptions['circuit']>, seconds = 300) {
  const probeNow = vi.fn();
  const state = { state: () => 'closed' as const, untilProbed: () => undefined, healthyProbes: () => 0, probeNow };
  const options = { circuit: { ...state, ...circuit }, backOff: () => 0 };
  return { ...createRetries(options, createDeadline(seconds), () => 'nothing'), probeNow };
}

describe('after HTTP 500, a call', () => {
  it.each<[string, Partial<RetriesOptions['circuit']>, boolean[]]>([
    ['is given up at the third one', {}, [false, false, true]],
    ['does not count a probe that found the backend healthy before', { healthyProbes: () => 1 }, [false, false, true]],
    ['is not given up while the circuit is open', { state: () => 'open' }, [false, false, false]],
    ['is not given up during a probe', { untilProbed: () => Promise.resolve() }, [false, false, false]],
  ])('%s', (_, circuit, expected) => {
    const { givesUp } = retriesOf(circuit);
    expect(expected.map(() => givesUp())).toEqual(expected);
  });

  it('is given up when a probe has found the backend healthy since the first one', () => {
    let healthyProbes = 1;
    const { givesUp } = retriesOf({ healthyProbes: () => healthyProbes });
    expect(givesUp()).toBe(false);
    healthyProbes += 1;
    expect(givesUp()).toBe(true);
  });
});

describe('a Retry-After', () => {
  it.each([
    ['1', false],
    ['2', true],
    ['3', true],
  ])('of %s s, 2 s before the deadline of the message, begins a probe: %s', async (retryAfter, isProbed) => {
    const { next, probeNow } = retriesOf({}, 2);
    const waiting = next('HTTP 503', retryAfter);
    expect(probeNow.mock.calls).toEqual(isProbed ? [['HTTP 503']] : []);
    await vi.runAllTimersAsync();
    await waiting;
  });

  it.each(['7', '1234567890', 'Sun, 06 Nov 1994 08:49:37 GMT'])('of %j is passed on to callers', (value) =>
    expect(plainRetryAfter(value)).toBe(value),
  );
  it.each(['12345678901', '7s', '+7', '2030-01-01T00:00:00Z', 'Invalid Date', '', undefined])(
    'of %j is not passed on to callers',
    (value) => expect(plainRetryAfter(value)).toBeUndefined(),
  );
});

describe('the back-off', () => {
  it.each([
    [1, [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]],
    [0.5, [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]],
    [0, [0, 0, 0, 0, 0, 0, 0, 0, 0]],
  ])('with the random number %d waits %j ms', (chance, waits) => {
    const backOff = createBackOff(() => chance);
    expect(waits.map((_, retry) => backOff(retry))).toEqual(waits);
    expect(backOff(2_000)).toBe(waits.at(-1));
  });

  it('is random unless a test sets it', () => {
    const backOff = createBackOff();
    const waits = Array.from({ length: 20 }, () => backOff(0));
    expect(new Set(waits).size).toBeGreaterThan(1);
    expect(waits.filter((ms) => ms < 0 || ms > 100)).toEqual([]);
  });
});

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
  return { limits, attempt: createAttempt(adapter, 1000, tokens, 'type registry') };
}

const outgoing = { method: 'GET', path: '/', headers: {} };

describe('the second attempt, with a new token after a 401,', () => {
  it.each([
    ['than is left of the message’s', 1, 100],
    ['than an attempt usually has', 60, 1_000],
  ])('has no more time %s', async (_, seconds, limitMs) => {
    const { limits, attempt } = setUp({ answerMs: 400, renewMs: 500 });
    const reply = attempt(outgoing, 'old', 1_000, createDeadline(seconds));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await reply).toMatchObject({ status: 200 });
    expect(limits).toEqual([1_000, limitMs]);
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
