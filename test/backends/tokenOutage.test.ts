import type { AxiosAdapter } from 'axios';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createBackends } from '../../src/backends/backends.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import { staticToken } from '../../src/backends/tokens.ts';
import { TransportFailure } from '../../src/backends/transport.ts';
import { createMeter } from '../../src/observing/metrics.ts';
import { courseOf, readingOf, recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { callOf, openBackend, rejection, settings } from './harness.ts';

// A token endpoint that is out is no outage of the backends: it is told as a part of its own, and calls wait for it.

withFakeTimers();

/** Real backends with a token endpoint that does what the test says; the information model has every object. */
async function setUp() {
  const endpoint = { answer: 'refuse' as 'refuse' | 'hang' | number, expires: 3_600, asked: 0 };
  const model = { status: 200 };
  const seen: string[] = [];
  const adapter: AxiosAdapter = async (config) => {
    const responseOf = (status: number, body: object) => ({
      ...{ status, statusText: '', headers: {}, config },
      data: Buffer.from(JSON.stringify(body)),
    });
    if (config.method?.toUpperCase() === 'POST') {
      endpoint.asked += 1;
      const { answer } = endpoint;
      if (answer === 'hang') return new Promise(() => {});
      if (answer === 'refuse') throw new TransportFailure('connection refused', false);
      return responseOf(answer, { access_token: `t${endpoint.asked}`, expires_in: endpoint.expires });
    }
    seen.push(config.url ?? '');
    return responseOf(model.status, { objectId: 'o', model: 'm', version: 1 });
  };
  const log = recordingLog();
  const meter = createMeter();
  const oauth = { token: '', tokenUrl: 'https://login.invalid/token', clientId: 'id', clientSecret: 's3cret' };
  const backends = createBackends({ ...settings, ...oauth, circuitFailures: 2 }, log, { adapter, meter });
  await vi.dynamicImportSettled(); // axios
  const over = new AbortController();
  onTestFinished(() => {
    over.abort(); // a call that still waits would go on in the time of later tests
    return backends.close();
  });
  const read = (deviceId: string, seconds = 900) => {
    const observation = courseOf();
    const deadline = createDeadline(seconds, over.signal);
    const call = callOf({ deviceId, observation, deadline, onOutage: () => outages.push(deviceId) });
    const work = backends.bind(call).informationModel.getModel('o', 'm');
    work.catch(() => undefined);
    return { observation, work };
  };
  const outages: string[] = [];
  return { endpoint, model, seen, log, meter, backends, read, outages };
}

it('During an outage of the token endpoint nothing is sent to the backends, and no failure is counted as theirs', async () => {
  const { endpoint, seen, log, meter, backends, read, outages } = await setUp();
  const since = performance.now();
  const reads = ['d1', 'd2', 'd3'].map((device) => read(device));
  await vi.advanceTimersByTimeAsync(60_000);
  const { informationModel, tokenEndpoint } = backends.states();
  expect(informationModel).toMatchObject({ circuit: 'closed', outage: undefined });
  expect(tokenEndpoint).toMatchObject({ circuit: 'open', outage: { since, failure: 'connection refused' } });
  expect(seen).toEqual([]);
  expect(reads.flatMap(({ observation }) => [...observation.open].map(({ of, waitsFor }) => [of, waitsFor]))).toEqual(
    Array(3).fill(['information model', 'token']),
  );
  expect(outages.toSorted()).toEqual(['d1', 'd2', 'd3']);
  expect(log.lines.map(({ message }) => message)).toEqual(Array(2).fill('no access token for the backends'));
  const total = (backend: string) => meter.total('device_messaging.backend.outages', backend);
  expect([total('tokenEndpoint'), total('informationModel')]).toEqual([1, 0]);
  const { asked } = endpoint;
  expect(readingOf(meter, 'device_messaging.backend.retries')).toEqual({ tokenEndpoint: asked - 1 });
  expect(readingOf(meter, 'http.client.request.duration')).toEqual({
    'tokenEndpoint fetch token POST  connection refused': asked,
  });
});

it('Messages do not begin during an outage of the token endpoint, and all continue when it issues a token', async () => {
  const { endpoint, seen, log, backends, read } = await setUp();
  const first = read('d1').work;
  await vi.advanceTimersByTimeAsync(0);
  expect(backends.isUp('typeRegistry')).toBe(false);
  const isReady = backends.ready(['typeRegistry'], new AbortController().signal);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(endpoint.asked).toBeLessThan(8);
  endpoint.answer = 200;
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await isReady).toBe(true);
  expect(await first).toBeDefined();
  expect([seen.length, backends.isUp('typeRegistry')]).toEqual([1, true]);
  expect(backends.states().tokenEndpoint).toMatchObject({ circuit: 'closed', outage: undefined });
  expect(log.lines.at(-1)?.message).toBe('there is an access token for the backends');
});

it('The end of the service ends the wait for a token, and failures that come later begin no outage', async () => {
  const { backends, read } = await setUp();
  read('d1');
  await vi.advanceTimersByTimeAsync(0);
  const isReady = backends.ready(['typeRegistry'], new AbortController().signal);
  await backends.close();
  expect(await isReady).toBe(false);
  read('d2');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(backends.states().tokenEndpoint).toMatchObject({ circuit: 'closed', outage: undefined });
  expect(backends.isUp('typeRegistry')).toBe(true);
});

it('A renewal that fails is logged, but no call waits while the token is valid', async () => {
  const { endpoint, backends, read } = await setUp();
  Object.assign(endpoint, { answer: 200, expires: 100 });
  await read('d1').work;
  await vi.advanceTimersByTimeAsync(80_000);
  endpoint.answer = 503;
  expect(await read('d1').work).toBeDefined();
  expect(backends.states().tokenEndpoint).toMatchObject({ circuit: 'open', outage: { failure: 'HTTP 503' } });
  expect(backends.isUp('informationModel')).toBe(true);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(backends.isUp('informationModel')).toBe(false);
  const waiting = read('d1');
  await vi.advanceTimersByTimeAsync(0);
  endpoint.answer = 200;
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await waiting.work).toBeDefined();
});

it('A backend that refuses the token has an outage of its own: a failed renewal does not hide its 401', async () => {
  const { endpoint, model, backends, read } = await setUp();
  endpoint.answer = 200;
  await read('d1').work;
  endpoint.answer = 503;
  model.status = 401;
  for (const device of ['d1', 'd2']) read(device);
  await vi.advanceTimersByTimeAsync(500);
  expect(backends.states().informationModel).toMatchObject({ circuit: 'open', outage: { failure: 'HTTP 401' } });
  expect(backends.isUp('typeRegistry')).toBe(true);
});

it('Calls that wait for the first token hold the connections, for which others wait', async () => {
  const { endpoint, backends, read } = await setUp();
  endpoint.answer = 'hang';
  const reads = Array.from({ length: 5 }, () => read('d1'));
  await vi.advanceTimersByTimeAsync(1_000);
  const waiting = reads.flatMap(({ observation }) => [...observation.open].map(({ waitsFor }) => waitsFor));
  expect(waiting).toEqual([...Array(settings.connections).fill('token'), 'connection']);
  expect(backends.states().tokenEndpoint).toMatchObject({ connections: { inUse: 1 }, oldestMs: 1_000 });
});

it.each([
  ['hang', 'an access token for the information model'],
  ['refuse', 'the information model to read object model; the last attempt ended with: no access token'],
] as const)('A message without a token ends at its deadline, and says what it waits for: %s', async (answer, what) => {
  const { endpoint, read } = await setUp();
  endpoint.answer = answer;
  const refusal = rejection(read('d1', 0.9).work);
  await vi.advanceTimersByTimeAsync(900);
  expect((await refusal).details).toBe(`the message timed out while waiting for ${what}`);
});

it('The end of an outage of the token endpoint ends the pause of a Retry-After, too', async () => {
  let end = (_: boolean) => {};
  let ended: Promise<boolean> | undefined;
  const began = performance.now();
  const sentAt: number[] = [];
  const { bind } = openBackend({
    settings,
    tokens: { ...staticToken('t'), isOut: () => ended !== undefined, untilBack: () => ended },
    async adapter(config) {
      sentAt.push(performance.now() - began);
      const status = sentAt.length === 1 ? 503 : 404;
      if (status === 503) ended = new Promise((resolve) => (end = resolve));
      return { status, statusText: '', headers: { 'retry-after': '200' }, data: Buffer.from(''), config };
    },
  });
  const work = bind(callOf())({ operation: 'read object model', method: 'GET', path: '/', expect: [404] });
  await vi.advanceTimersByTimeAsync(1_000);
  ended = undefined;
  end(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(sentAt).toEqual([0, 1_000]);
  await work;
});
