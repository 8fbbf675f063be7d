import { describe, expect, it, vi } from 'vitest';
import {
  createInvocationRecords,
  type InvocationFailure,
  type RequestFields,
} from '../../src/observing/invocationRecords.ts';
import { createLog } from '../../src/observing/log.ts';
import { createMeter, namesIn } from '../../src/observing/metrics.ts';
import { createTaps, type TapEvent } from '../../src/observing/taps.ts';
import { codesIn, readPage } from '../docs/markdown.ts';
import { readingOf, sumsOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { recordedSpans } from './support/recordedSpans.ts';

// What is told of an invocation: its line, metrics, spans, and the events for followers of its device.

withFakeTimers();

const traceId = '0af7651916cd43dd8448eb211c80319c';
const callers = `00-${traceId}-b7ad6b7169203331-01`;
const route = '/objects/{objectId}/models/{model}/methods/{method}';
const named = { correlationId: 'c-1', objectId: 'o-1', model: 'svc.device', method: 'stop' };
const fields = { cause: 'asleep' };
const offline: InvocationFailure = {
  reason: 'device_offline',
  status: 503,
  invoked: 'no',
  detail: 'not there',
  fields,
};
const forbidden: InvocationFailure = { reason: 'forbidden', status: 403, invoked: 'no', detail: 'may not', fields: {} };

/** The fields of all lines so far. */
const seen = new Set<string>();

type Observation = ReturnType<ReturnType<typeof createInvocationRecords>['begin']>;

function setUp(traceparent: string | readonly string[] | undefined = callers) {
  const lines: Record<string, unknown>[] = [];
  const write = (text: string) => {
    const line = JSON.parse(text);
    for (const field of Object.keys(line)) seen.add(field);
    lines.push(line);
  };
  const log = createLog('debug', { write });
  const meter = createMeter(namesIn.methods);
  const told: unknown[] = [];
  const taps = createTaps();
  taps.open({ device: 'd1', follow: ({ time: _, ...event }: TapEvent, bodies) => told.push([event, bodies]) });
  const { traces, spans } = recordedSpans();
  const fields: RequestFields = { ...named };
  vi.advanceTimersByTime(1_000);
  const records = createInvocationRecords({ log, meter, hubHost: 'hub.example', traces, taps });
  const observation = records.begin(fields, traceparent);
  vi.advanceTimersByTime(5);
  return { observation, fields, lines, meter, told, spans };
}

type End = Parameters<Observation['call']>[1] extends (method: never) => Promise<infer E> ? E : never;

async function call(observation: Observation, end: End, module = '') {
  const method = { device: 'd1', module, payload: { method: 'stop' }, timeoutSeconds: 30 };
  const called = observation.call(method, async (sent) => {
    expect(sent).toBe(method);
    await new Promise((resolve) => setTimeout(resolve, 40));
    return end;
  });
  const [step] = observation.open;
  expect(step).toMatchObject({ kind: 'call', what: 'method stop', of: 'device', waitsFor: 'answer' });
  await vi.advanceTimersByTimeAsync(40);
  expect(await called).toBe(end);
  expect(observation.open.size).toBe(0);
}

const told = (stage: string, fields: object) => ({ stage, device: 'd1', correlationId: 'c-1', ...fields });

describe('an invocation', () => {
  it('that the device answers is told with its call', async () => {
    const { observation, lines, meter, told: events, spans, fields } = setUp();
    expect(observation.publish).toBeUndefined();
    Object.assign(fields, { caller: { sub: 'u' }, target: 'bus', device: 'd1', timeout: 30 });
    observation.routed('d1', 3.4);
    expect(observation.publish).toBeDefined();
    observation.decoded({ timeout: 30, input: { rpm: 1 } });
    await call(observation, { kind: 'response', status: 201, payload: { status: 7 } });
    fields.methodStatus = 7;
    observation.ended(200, undefined);

    const { time: _, event: __, ...line } = lines[0] ?? {};
    expect(lines).toHaveLength(1);
    expect(line).toEqual({
      ...{ level: 'info', msg: 'method invoked', ...named, traceId, caller: { sub: 'u' }, target: 'bus', device: 'd1' },
      ...{ timeout: 30, hubMs: 40, methodStatus: 7, status: 200, durationMs: 45 },
    });
    expect(events).toEqual([
      [told('invoked', { ...named, target: 'bus', caller: { sub: 'u' }, traceId, lookUpMs: 3 }), undefined],
      [told('decoded', { timeout: 30 }), { body: '{"rpm":1}' }],
      [told('sent', { to: 'd1', timeoutSeconds: 30 }), { request: '{"method":"stop"}' }],
      [told('answer', { ms: 40, status: 201 }), { response: '{"status":7}' }],
      [told('handled', { status: 200, methodStatus: 7, ms: 45 }), undefined],
    ]);
    expect(sumsOf(meter, 'http.server.request.duration')).toEqual({ '200': 0.045 });
    expect(sumsOf(meter, 'rpc.client.call.duration')).toEqual({ '200': 0.04 });
    expect(spans).toEqual([
      {
        ...{ name: `POST ${route}`, kind: 'server', parent: undefined, events: [] },
        attributes: {
          ...{ 'http.request.method': 'POST', 'http.route': route, 'svc.correlation_id': 'c-1' },
          ...{ 'svc.object.id': 'o-1', 'svc.model': 'svc.device', 'svc.method': 'stop' },
        },
        ends: [[{ 'http.response.status_code': 200, 'svc.device.id': 'd1', 'svc.method.status': 7 }, undefined]],
      },
      {
        ...{ name: 'invoke direct method', kind: 'client', parent: `POST ${route}`, events: [] },
        attributes: { 'http.request.method': 'POST', 'server.address': 'hub.example', 'svc.device.id': 'd1' },
        ends: [[{ 'http.response.status_code': 200, 'svc.device.status': 201 }, undefined]],
      },
    ]);
  });

  const throttled: End = { kind: 'failure', failure: 'throttled', status: 403, code: 403800 };
  it.each<[what: string, end: End, fields: object, label: string]>([
    ['with its status and code', throttled, { hubStatus: 403, errorCode: 403800 }, '403 throttled'],
    ['without an answer', { kind: 'failure', failure: 'unavailable' }, {}, 'unavailable'],
  ])('that the hub refuses is told %s', async (_, end, more, label) => {
    const { observation, lines, meter, told: events, spans } = setUp();
    observation.routed('d1', 3);
    await call(observation, end, 'proxy');
    observation.ended(503, offline);
    const { failure } = end as { readonly failure: string };
    expect(lines[0]).toMatchObject({
      ...{ level: 'warn', msg: 'method not invoked, or its outcome is unknown', ...more, hubMs: 40, status: 503 },
      ...{ reason: 'device_offline', invoked: 'no', details: 'not there', cause: 'asleep' },
    });
    const ofHub = Object.keys(lines[0] ?? {}).filter((key) => ['hubStatus', 'errorCode'].includes(key));
    expect(ofHub).toEqual(Object.keys(more));
    expect(events.slice(1)).toEqual([
      [told('sent', { to: 'd1/proxy', timeoutSeconds: 30 }), { request: '{"method":"stop"}' }],
      [told('answer', { ms: 40, failure, ...more }), undefined],
      [told('handled', { status: 503, reason: 'device_offline', details: 'not there', ms: 45 }), undefined],
    ]);
    expect(readingOf(meter, 'http.server.request.duration')).toEqual({ '503 device_offline': 1 });
    expect(sumsOf(meter, 'rpc.client.call.duration')).toEqual({ [label]: 0.04 });
    const [root, called] = spans.map(({ ends }) => ends);
    const type = 'device_offline';
    expect(root).toEqual([[{ 'http.response.status_code': 503, 'svc.reason': type }, { type }]]);
    const status = (end as { readonly status?: number }).status;
    expect(called).toEqual([[{ 'http.response.status_code': status }, { type: failure }]]);
  });

  it.each<[level: string, msg: string, status: number | undefined, failure: InvocationFailure | undefined]>([
    ['info', 'method invoked', 200, undefined],
    ['info', 'method not invoked', undefined, undefined],
    ['warn', 'method not invoked, or its outcome is unknown', undefined, { ...forbidden, invoked: 'unknown' }],
    ['info', 'method not invoked', 403, forbidden],
    ['warn', 'method not invoked, or its outcome is unknown', 403, { ...forbidden, invoked: 'unknown' }],
    ['warn', 'method not invoked, or its outcome is unknown', 500, { ...forbidden, status: 500 }],
  ])('is a line at the level %s: %s', (level, msg, status, failure) => {
    const { observation, lines, spans } = setUp();
    observation.ended(status, failure);
    expect(lines).toMatchObject([{ level, msg }]);
    if (status === 500) expect(spans[0]?.ends).toMatchObject([[{}, { type: 'forbidden' }]]);
  });

  it('that the device has answered is told as one, though its caller has gone', () => {
    const { observation, fields, lines } = setUp();
    fields.methodStatus = 7;
    observation.ended(undefined, undefined);
    expect(lines).toMatchObject([{ level: 'info', msg: 'method invoked', callerGone: true, methodStatus: 7 }]);
  });

  it('is not changed by who follows its device, however deep the answer is', async () => {
    const { observation, told: events } = setUp();
    observation.routed('d1', 3);
    let payload: unknown = {};
    for (let depth = 0; depth < 50_000; depth += 1) payload = [payload];
    await call(observation, { kind: 'response', status: 200, payload });
    expect(events.at(-1)).toEqual([told('answer', { ms: 40, status: 200 }), { response: undefined }]);
  });

  it('whose caller has gone is told so, and is an error of its span, as is none that the caller has made', () => {
    const { observation, lines, meter, told: events, spans } = setUp();
    observation.routed('d1', 3);
    observation.ended(undefined, undefined);
    expect(lines[0]).toMatchObject({ callerGone: true });
    expect(lines[0]).not.toHaveProperty('status');
    expect(events.at(-1)).toEqual([told('handled', { status: 'the caller has gone', ms: 5 }), undefined]);
    expect(readingOf(meter, 'http.server.request.duration')).toEqual({ caller_gone: 1 });
    expect(spans[0]?.ends).toEqual([[{}, { type: 'caller_gone' }]]);
    const other = setUp();
    other.observation.ended(403, forbidden);
    expect(other.lines[0]).not.toHaveProperty('callerGone');
    expect(other.spans[0]?.ends).toMatchObject([[{ 'svc.reason': 'forbidden' }, undefined]]);
  });

  it('without input is told without a body, and to no follower of another device', () => {
    const { observation, told: events } = setUp();
    observation.routed('d1', 3);
    observation.decoded({ timeout: 30 });
    expect(events.at(-1)).toEqual([told('decoded', { timeout: 30 }), { body: undefined }]);
    const other = setUp();
    other.observation.routed('d2', 3);
    other.observation.decoded({ timeout: 30 });
    expect([other.observation.publish, other.told]).toEqual([undefined, []]);
  });

  it('has a trace of its own when its caller sends none, or several', () => {
    const ids = [undefined, [callers, callers]].map((sent) => {
      const [log, meter] = [createLog('silent'), createMeter(namesIn.methods)];
      const records = createInvocationRecords({ log, meter, hubHost: '' });
      return records.begin({ ...named }, sent).fields.traceId;
    });
    expect(ids).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect([setUp().fields.traceId, ids.includes(traceId), ids[0] === ids[1]]).toEqual([traceId, false, false]);
  });

  it('that waits for an answer that fails is told, and waits no longer', async () => {
    const { observation } = setUp();
    const failed = observation.waitsFor('sign the files', 'file storage', Promise.reject(new Error('down')));
    expect([...observation.open]).toMatchObject([{ what: 'sign the files', of: 'file storage', waitsFor: 'answer' }]);
    await expect(failed).rejects.toThrow('down');
    expect(observation.open.size).toBe(0);
  });
});

it('docs/methods.md has the fields of all these lines', () => {
  const [text = ''] = /\*\*The log\*\* has one line for each request.*?No line has/s.exec(readPage('methods.md')) ?? [];
  const listed = codesIn(text).filter((code) => /^\w+$/.test(code) && !['sub', 'azp'].includes(code));
  const own = [...seen].filter((field) => !['time', 'level', 'msg', 'event'].includes(field));
  expect(listed.sort()).toEqual(own.sort());
});
