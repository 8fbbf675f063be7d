import type { AxiosAdapter, AxiosResponse } from 'axios';
import { describe, expect, it, vi } from 'vitest';
import { createDeadline } from '../../src/backends/deadline.ts';
import { createObjectReader } from '../../src/backends/objectOnBehalf.ts';
import { staticToken } from '../../src/backends/tokens.ts';
import { TransportFailure } from '../../src/backends/transport.ts';
import type { TransportFault } from '../../src/protocol/vocabulary.ts';
import { courseOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { callOf, openBackend, rejection } from './harness.ts';

// Look-ups with the tokens of callers: places, circuit, answers (M2, M14, D45).

withFakeTimers();

const objectId = (number: number) => `00000000-0000-4000-8000-abcd${String(number).padStart(8, '0')}`;

interface Asked {
  readonly token: string;
  readonly path: string | undefined;
  readonly operation: unknown;
  readonly timeoutMs: number | undefined;
  /** @param body as JSON, or a text as it is */
  answer(status: number, body?: object | string, headers?: Record<string, string>): void;
  fail(fault: TransportFault): void;
}

const ours = 'our-own-token';

/** An information model whose answers the test gives; our own requests have a token of ours. */
function informationModel({ connections = 1 } = {}) {
  const asked: Asked[] = [];
  const adapter: AxiosAdapter = (config) =>
    new Promise((resolve, reject) => {
      const token = String(config.headers['authorization']).replace('Bearer ', '');
      asked.push({
        token,
        path: config.url,
        operation: config.headers['x-svc-operation'],
        timeoutMs: config.timeout,
        answer(status, body = {}, headers = {}) {
          const data = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
          resolve({ status, statusText: '', headers, config, data } as AxiosResponse);
        },
        fail: (fault) => reject(new TransportFailure(fault, true)),
      });
    });
  const renew = vi.fn(async () => 'another-of-our-tokens');
  const { backend, bind, log } = openBackend({
    ...{ adapter, tokens: { ...staticToken(ours), renew } },
    settings: { attemptTimeoutSeconds: 5, connections, circuitFailures: 3 },
  });
  const readObject = createObjectReader(backend);
  return {
    ...{ asked, backend, log, renew },
    tokens: () => asked.map(({ token }) => token),
    lookUp: (token: string, { object = 1, isKnown = false, seconds = 10, observation = courseOf() } = {}) =>
      readObject(objectId(object), 'svc.device', {
        ...{ token, isKnown, correlationId: 'c', observation },
        deadline: createDeadline(seconds),
      }),
    callOurselves: () =>
      bind(callOf())({ operation: 'read object model', method: 'GET', path: '/ours' }).catch(() => undefined),
  };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

describe('a look-up', () => {
  it('with a recently accepted token takes precedence over waiting ones', async () => {
    const { asked, tokens, lookUp } = informationModel();
    const refused = ['x1', 'x2', 'x3'].map((token) => lookUp(token));
    const good = lookUp('good', { isKnown: true });
    for (const count of [1, 2, 3, 4]) {
      await settle();
      expect(asked).toHaveLength(count);
      asked.at(-1)?.answer(401);
    }
    await Promise.all([...refused, good]);
    expect(tokens()).toEqual(['x1', 'good', 'x2', 'x3']);
  });

  it('releases its slot also when the circuit is open at its end', async () => {
    const { asked, backend, lookUp } = informationModel();
    const { circuit } = backend;
    const inProgress = lookUp('a');
    const waiting = [lookUp('b'), lookUp('c')];
    await settle();
    for (const object of ['1', '2', '3']) circuit.failed(object, 'connection lost');
    expect(circuit.state()).toBe('open');
    asked[0]?.fail('connection lost');
    const results = await Promise.all([inProgress, ...waiting]);
    const expected = ['did not respond: connection lost', 'is unavailable', 'is unavailable'];
    expect(results.map((result) => 'problem' in result && result.problem)).toEqual(expected);
    expect([asked.length, backend.state().connections]).toEqual([1, { inUse: 0, waiting: 0 }]);
  });
});

describe('look-ups of callers', () => {
  it('have seven of eight connections, and the service’s calls the other one', async () => {
    const { asked, tokens, backend, lookUp, callOurselves } = informationModel({ connections: 8 });
    const junk = Array.from({ length: 20 }, (_, index) => lookUp(`x${index}`));
    await settle();
    const expected = [['x0', 'x1', 'x2', 'x3', 'x4', 'x5', 'x6'], { inUse: 7, waiting: 13 }];
    expect([tokens(), backend.state().connections]).toEqual(expected);
    const own = callOurselves();
    await settle();
    expect(tokens().at(-1)).toBe(ours);
    for (let next = 0; next < 21; next += 1) {
      asked[next]?.answer(403);
      await settle();
    }
    await Promise.all([...junk, own]);
    expect(backend.state().connections).toEqual({ inUse: 0, waiting: 0 });
  });

  it('have only the connections that the service’s calls leave, and their slots are free again after their time-out', async () => {
    const { asked, backend, lookUp, callOurselves } = informationModel({ connections: 8 });
    const own = Array.from({ length: 8 }, callOurselves);
    const refusal = rejection(lookUp('good', { seconds: 1 }));
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await refusal).details).toMatch(/waiting for a free connection to the information model$/);
    for (const { answer } of asked) answer(403);
    await Promise.all(own);
    const all = Array.from({ length: 7 }, (_, index) => lookUp(`x${index}`));
    await settle();
    expect(backend.state().connections).toEqual({ inUse: 7, waiting: 0 });
    for (const { answer } of asked) answer(403);
    await Promise.all(all);
  });

  it('do not renew the service’s token when the caller’s is refused', async () => {
    const { asked, tokens, renew, log, lookUp } = informationModel();
    const found = lookUp('junk');
    await settle();
    asked[0]?.answer(401);
    expect(await found).toMatchObject({ kind: 'refused', status: 401 });
    expect([tokens(), renew.mock.calls, log.lines]).toEqual([['junk'], [], []]);
  });

  it('are sent once, whatever the answer', async () => {
    const { asked, tokens, lookUp } = informationModel();
    const found = lookUp('good');
    await settle();
    asked[0]?.answer(503);
    expect(await found).toMatchObject({ kind: 'unavailable', problem: 'responded with HTTP 503' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tokens()).toEqual(['good']);
  });

  it.each([
    [10, 5_000],
    [2, 2_000],
  ])('have %d s left, and wait for an answer for %d ms at most', async (seconds, timeoutMs) => {
    const { asked, lookUp } = informationModel();
    const found = lookUp('good', { seconds });
    await settle();
    expect(asked.map((one) => one.timeoutMs)).toEqual([timeoutMs]);
    asked[0]?.answer(404);
    await found;
  });

  it.each([
    ['its connection is lost', ({ fail }: Asked) => fail('connection lost'), ['connection_lost']],
    ['it has no success that may come later', ({ answer }: Asked) => answer(503), ['503']],
    ['it is refused', ({ answer }: Asked) => answer(403), []],
  ])('are a step and a span until their end, which has what may pass as an event: %s', async (_, end, events) => {
    const { asked, lookUp } = informationModel();
    const told: unknown[] = [];
    const span = {
      ...{ traceparent: 't', child: () => span, end: () => told.push('end') },
      event: (_: string, { 'error.type': type }: Record<string, unknown>) => told.push(type),
    };
    const observation = courseOf({ span });
    const found = lookUp('good', { observation });
    await settle();
    expect([[...observation.open].map(({ waitsFor }) => waitsFor), told]).toEqual([['answer'], []]);
    end(asked[0] as Asked);
    await found;
    expect([observation.open.size, told]).toEqual([0, [...events, 'end']]);
  });

  it('are not sent while the circuit is open, and wait neither for its end nor for a connection', async () => {
    const { asked, tokens, backend, lookUp } = informationModel();
    const hanging = lookUp('a');
    await settle();
    for (const object of ['1', '2', '3']) backend.circuit.failed(object, 'connection lost');
    expect(await lookUp('good', { isKnown: true })).toMatchObject({ kind: 'unavailable', problem: 'is unavailable' });
    expect(tokens()).toEqual(['a']);
    asked[0]?.answer(403);
    await hanging;
  });
});

describe('the circuit', () => {
  async function fail(objects: readonly number[], fault: TransportFault) {
    const all = informationModel({ connections: 16 });
    const looked = objects.map((object) => all.lookUp('token', { object }));
    await settle();
    const lookUps = [...all.asked];
    for (const one of lookUps) one.fail(fault);
    await Promise.all(looked);
    await settle();
    const probes = all.asked.filter(({ token }) => token === ours);
    return { circuit: all.backend.circuit, probes };
  }

  it.each<TransportFault>(['connection lost', 'connection refused', 'no answer in time'])(
    'is decided by one probe with the service’s token when look-ups end with: %s',
    async (fault) => {
      const { circuit, probes } = await fail([1, 2, 3, 4, 5, 6], fault);
      expect([circuit.state(), probes.length]).toEqual(['closed', 1]);
      probes[0]?.fail('connection lost');
      await settle();
      expect(circuit.state()).toBe('open');
    },
  );

  it('is opened by a probe that fails for want of a token', async () => {
    const { asked, renew, backend } = informationModel();
    renew.mockRejectedValue(new Error('the token endpoint sends what is no token'));
    backend.circuit.probeNow('connection lost');
    await settle();
    asked[0]?.answer(401);
    await settle();
    expect(backend.circuit.outage()?.failure).toBe('connection lost');
  });

  it('is decided by a probe that has the time of one attempt, also with a second token', async () => {
    const { asked, renew, backend } = informationModel();
    renew.mockImplementation(() => new Promise((resolve) => setTimeout(() => resolve('another-token'), 3_000)));
    backend.circuit.probeNow('connection lost');
    await settle();
    asked[0]?.answer(401);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([5_000, 2_000]);
    asked[1]?.answer(404);
  });

  it('ignores the results of callers, also successes', async () => {
    const { asked, lookUp, backend } = informationModel();
    for (const object of ['1', '2']) backend.circuit.failed(object, 'connection lost');
    const found = lookUp('good');
    await settle();
    asked[0]?.answer(200);
    await found;
    backend.circuit.failed('3', 'connection lost');
    expect(backend.circuit.state()).toBe('open');
  });

  it('does not count answers that are too large', async () => {
    const { circuit, probes } = await fail([1, 2, 3, 4, 5, 6], 'answer too large');
    expect([circuit.state(), probes]).toEqual(['closed', []]);
  });
});

describe('what the information model says', () => {
  async function found(...answer: Parameters<Asked['answer']>) {
    const { asked, lookUp } = informationModel();
    const result = lookUp('token-of-the-caller');
    await settle();
    asked[0]?.answer(...answer);
    return { ...(await result), asked: `${asked[0]?.operation} ${asked[0]?.path}` };
  }

  const asked = `invoke /objects/${objectId(1)}/models/svc.device`;
  const object = { objectId: objectId(1), model: 'svc.device', type: 'motor@1.0.0', path: 'd1/x' };

  it.each([
    ['as it spells it', { objectId: objectId(1).toUpperCase() }, 'd1/x'],
    ['without an owner: no path', { path: undefined }, undefined],
    ['without an owner: null', { path: null }, undefined],
    ['without an owner: empty', { path: '' }, undefined],
  ])('is the object, %s', async (_, change, path) => {
    const answer = { ...object, ...change };
    expect(await found(200, answer)).toEqual({ kind: 'object', object: { ...answer, path }, asked });
  });

  it.each([
    ['another object', { ...object, objectId: objectId(2) }],
    ['another model', { ...object, model: 'svc.configuration' }],
    ['no type', { ...object, type: undefined }],
    ['a path that is no text', { ...object, path: 7 }],
    ['no JSON', 'gone'],
  ])('is not the object: %s', async (_, answer) => {
    const problem = 'sent a response that is not the object model';
    expect(await found(200, answer)).toEqual({ kind: 'unavailable', problem, retryAfter: undefined, asked });
  });

  it.each([
    [500, 'responded with HTTP 500'],
    [503, 'responded with HTTP 503'],
    [429, 'responded with HTTP 429'],
    [302, 'responded unexpectedly with HTTP 302'],
    [400, 'responded unexpectedly with HTTP 400'],
  ])('is no answer to a look-up: HTTP %d, with when to ask again', async (status, problem) => {
    const answer = await found(status, {}, { 'retry-after': '7' });
    expect(answer).toEqual({ kind: 'unavailable', problem, retryAfter: '7', asked });
    expect(await found(status, {}, { 'retry-after': 'soon' })).toMatchObject({ problem, retryAfter: undefined });
  });

  it('is too large', async () => {
    const { asked, lookUp } = informationModel();
    const result = lookUp('token-of-the-caller');
    await settle();
    asked[0]?.fail('answer too large');
    expect(await result).toMatchObject({ kind: 'unavailable', problem: 'sent a response that is too large' });
  });

  it.each([401, 403, 404] as const)('of a refusal, HTTP %d, is its status alone', async (status) => {
    const errors = [{ code: '403', title: 'Forbidden', detail: 'not token-of-the-caller' }];
    expect(await found(status, { errors })).toEqual({ kind: 'refused', status, asked });
  });
});
