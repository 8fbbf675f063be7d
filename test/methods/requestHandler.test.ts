import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import type { ObjectResult } from '../../src/backends/objectForCaller.ts';
import { createLog } from '../../src/log/log.ts';
import type { AuthorizedRequest } from '../../src/methods/authorizedRequest.ts';
import { createConcurrencyLimits } from '../../src/methods/concurrencyLimits.ts';
import { Failure } from '../../src/methods/failure.ts';
import { createRequestHandler } from '../../src/methods/requestHandler.ts';
import type { Invocation } from '../../src/methods/schemas.ts';
import { noMeter } from '../../src/metrics/meter.ts';
import { createInvocationRecords } from '../../src/observing/invocationRecords.ts';
import { Rejection } from '../../src/protocol/rejection.ts';
import { createTaps, type TapEvent } from '../../src/tap/taps.ts';
import { withFakeTimers } from '../support/waiting.ts';

// From a request to the call to the hub, without HTTP.

withFakeTimers();

const objectId = '6b0e6a1c-4a59-4b3e-9d3f-0a1c3c1f2a3b';
const found = (path: string): ObjectResult => ({ kind: 'object', object: { objectId, type: 'motor@1.0.0', path } });
const payload = Buffer.from('{"sub":"u","tid":"acme"}').toString('base64url');
const headers = { authorization: `Bearer x.${payload}.y`, 'content-type': 'application/json' };

interface Given {
  readonly object?: () => ObjectResult | Promise<ObjectResult>;
  readonly invoke?: (request: AuthorizedRequest, body: Invocation) => Promise<{ readonly status: number }>;
}

function setUp({ object = () => found('motor-1'), invoke = async () => ({ status: 7 }) }: Given = {}) {
  const asked: object[] = [];
  const invoked: AuthorizedRequest[] = [];
  const lines: Record<string, unknown>[] = [];
  const told: TapEvent[] = [];
  const taps = createTaps();
  taps.open({ device: 'motor-1', follow: (event) => told.push(event) });
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const handler = createRequestHandler({
    backends: {
      async readObject(id, model, { token, correlationId, isKnown }) {
        asked.push({ id, model, token, correlationId, isKnown });
        return object();
      },
    },
    async invoke(request, body) {
      invoked.push(request);
      return invoke(request, body);
    },
    concurrency: createConcurrencyLimits({ inFlight: 2, inFlightPerDevice: 1, bodies: { inAll: 1, ofCaller: 1 } }),
    invocations: createInvocationRecords({ log, meter: noMeter, hubHost: '', taps }),
  });
  const begin = (more: object = {}) =>
    handler.begin({ correlationId: 'c-1', objectId, model: 'svc.device', method: 'stop', ...more });
  return { handler, begin, asked, invoked, lines, told };
}

const bodyOf = (text: string, isComplete = true): IncomingMessage => {
  const body = new PassThrough();
  if (isComplete) body.end(text);
  return Object.assign(body, { complete: isComplete }) as never;
};

describe('a request', () => {
  it('is authorized, received and invoked, and has one line when its response is closed', async () => {
    const { handler, begin, asked, invoked, lines } = setUp({ object: () => found('gateway-1/bus/drive-1') });
    const request = begin();
    expect([handler.inProgress(), [...handler.requests()].map(({ fields }) => fields.correlationId)]).toEqual([
      1,
      ['c-1'],
    ]);
    await request.authorize(headers);
    expect(asked).toEqual([
      { id: objectId, model: 'svc.device', token: `x.${payload}.y`, correlationId: 'c-1', isKnown: false },
    ]);
    expect((await request.receive(bodyOf('{}'))).toString()).toBe('{}');
    expect(await request.invoke({})).toEqual({ status: 7 });
    expect(invoked).toMatchObject([
      {
        ...{ objectId, type: 'motor@1.0.0', claims: { sub: 'u', tid: 'acme' } },
        route: { device: 'gateway-1', target: 'bus/drive-1' },
      },
    ]);
    expect(lines).toEqual([]);
    request.closed(200);
    expect(lines).toMatchObject([{ device: 'gateway-1', target: 'bus/drive-1', caller: { sub: 'u' }, status: 200 }]);
    expect(handler.inProgress()).toBe(0);
  });

  it('has ten seconds for look-ups, of which the body takes none', async () => {
    vi.advanceTimersByTime(60_000);
    const { begin, invoked, told } = setUp({
      object: async () => {
        await new Promise((resolve) => setTimeout(resolve, 4_000));
        return found('motor-1');
      },
    });
    const request = begin();
    const authorizing = request.authorize(headers);
    await vi.advanceTimersByTimeAsync(4_000);
    await authorizing;
    expect(told).toMatchObject([{ stage: 'invoked', lookUpMs: 4_000 }]);
    await vi.advanceTimersByTimeAsync(5_000);
    await request.invoke({});
    expect(invoked[0]?.deadline.remaining()).toBe(6_000);
  });

  it('is logged without a target when the device itself is meant, and with names of usual length', async () => {
    const { begin, lines } = setUp();
    const request = begin();
    await request.authorize(headers);
    request.closed(200);
    expect(lines[0]).not.toHaveProperty('target');
    const long = setUp({ object: () => found(`${'d'.repeat(300)}/${'t'.repeat(300)}`) });
    const other = long.begin();
    await other.authorize(headers);
    other.closed(200);
    expect([String(long.lines[0]?.['device']).length, String(long.lines[0]?.['target']).length]).toEqual([256, 256]);
  });

  it.each<[what: string, result: ObjectResult, failure: object]>([
    ['no token', { kind: 'refused', status: 401 }, { reason: 'unauthorized' }],
    ['no right', { kind: 'refused', status: 403 }, { reason: 'forbidden' }],
    ['no object', { kind: 'refused', status: 404 }, { reason: 'object_not_found' }],
    [
      'no answer',
      { kind: 'unavailable', problem: 'is out', retryAfter: undefined },
      { reason: 'backend_unavailable', retryAfter: 5, detail: expect.stringContaining('information model is out') },
    ],
    [
      'an answer for later',
      { kind: 'unavailable', problem: 'is busy', retryAfter: '17' },
      { reason: 'backend_unavailable', retryAfter: '17' },
    ],
  ])('for which the information model has %s fails', async (_, result, failure) => {
    const { begin } = setUp({ object: () => result });
    await expect(begin().authorize(headers)).rejects.toMatchObject(failure);
  });

  it('is checked before it is looked up, and its body only afterwards', async () => {
    const { begin, asked } = setUp();
    await expect(begin().authorize({})).rejects.toMatchObject({ reason: 'unauthorized' });
    await expect(begin({ method: '' }).authorize(headers)).rejects.toMatchObject({ reason: 'invalid_request' });
    expect(asked).toEqual([]);
    const { 'content-type': _, ...without } = headers;
    await expect(begin().authorize(without)).rejects.toMatchObject({ reason: 'unsupported_media_type' });
    expect(asked.length).toBe(1);
  });

  it('is neither received nor invoked without authorization', async () => {
    const { begin } = setUp();
    await expect(begin().receive(bodyOf('{}'))).rejects.toThrow('the request is not authorized');
    await expect(begin().invoke({})).rejects.toThrow('the request is not authorized');
  });

  it('gives its places back: of the look-up, of its body, and of the device', async () => {
    const { begin } = setUp();
    for (let many = 0; many < 20; many += 1) {
      const request = begin();
      await request.authorize(headers);
      await request.receive(bodyOf('{}'));
      await request.invoke({});
      request.closed(200);
    }
    const slow = begin();
    await slow.authorize(headers);
    const receiving = slow.receive(bodyOf('', false)).catch((error) => error.reason);
    const other = begin();
    await other.authorize(headers);
    await expect(other.receive(bodyOf('', false))).rejects.toMatchObject({ reason: 'overloaded' });
    expect((await other.receive(bodyOf('{}'))).toString()).toBe('{}');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await receiving).toBe('request_timeout');
    const again = begin();
    await again.authorize(headers);
    const receivingAgain = again.receive(bodyOf('', false)).catch((error) => error.reason);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await receivingAgain).toBe('request_timeout');
    const busy = setUp({ invoke: () => new Promise(() => {}) });
    const [one, two] = [busy.begin(), busy.begin()];
    await one.authorize(headers);
    await two.authorize(headers);
    void one.invoke({});
    await expect(two.invoke({})).rejects.toMatchObject({ reason: 'overloaded' });
  });

  it.each<[what: string, error: Error, failure: object]>([
    [
      'a look-up fails',
      new Rejection('timeout_exceeded', 'too late'),
      { reason: 'backend_unavailable', retryAfter: 5, fields: { cause: 'too late' } },
    ],
    ['it fails', new Failure('no_reply', 'too late'), { reason: 'no_reply', detail: 'too late' }],
    ['a defect ends it', new TypeError('a defect'), { name: 'TypeError', message: 'a defect' }],
  ])('fails as it should when %s', async (_, error, failure) => {
    const { begin } = setUp({ invoke: () => Promise.reject(error) });
    const request = begin();
    await request.authorize(headers);
    await expect(request.invoke({})).rejects.toMatchObject(failure);
  });
});

describe('a stop', () => {
  it('refuses new requests, and is idle when the others have their lines', async () => {
    const { handler, begin, asked } = setUp();
    await handler.idle();
    const request = begin();
    await request.authorize(headers);
    expect(handler.isStopping()).toBe(false);
    handler.stop();
    expect(handler.isStopping()).toBe(true);
    const late = begin();
    await expect(late.authorize(headers)).rejects.toMatchObject({ reason: 'stopping', retryAfter: 1 });
    expect(asked.length).toBe(1);
    let isIdle = false;
    void handler.idle().then(() => (isIdle = true));
    late.closed(503);
    await vi.advanceTimersByTimeAsync(0);
    expect(isIdle).toBe(false);
    expect(await request.invoke({})).toEqual({ status: 7 });
    request.closed(200);
    await vi.advanceTimersByTimeAsync(0);
    expect(isIdle).toBe(true);
  });

  it('ends what waits for a look-up or a body when its time is over', async () => {
    const { handler, begin } = setUp();
    const receiving = begin();
    await receiving.authorize(headers);
    const received = expect(receiving.receive(bodyOf('', false))).rejects.toMatchObject({
      ...{ reason: 'stopping', retryAfter: 1, detail: expect.stringContaining('nothing was invoked') },
    });
    const hanging = setUp({ object: () => new Promise(() => {}) });
    const looking = expect(hanging.begin().authorize(headers)).rejects.toMatchObject({ reason: 'stopping' });
    handler.abort();
    hanging.handler.abort();
    await Promise.all([received, looking]);
  });
});
