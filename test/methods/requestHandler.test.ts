import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import type { ObjectResult } from '../../src/backends/objectOnBehalf.ts';
import type { Invocation } from '../../src/methods/contract.ts';
import { Failure } from '../../src/methods/failure.ts';
import { drain, frontDoorRoutes } from '../../src/methods/frontDoor.ts';
import type { AuthorizedRequest } from '../../src/methods/invoke.ts';
import { createConcurrencyLimits } from '../../src/methods/limits.ts';
import { createRequestHandler } from '../../src/methods/requestHandler.ts';
import { createInvocationRecords } from '../../src/observing/invocationRecords.ts';
import { createLog } from '../../src/observing/log.ts';
import { noMeter } from '../../src/observing/metrics.ts';
import { createTaps, type TapEvent } from '../../src/observing/taps.ts';
import { Rejection } from '../../src/protocol/rejection.ts';
import { signal, withFakeTimers } from '../support/waiting.ts';

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

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** Undefined: it has not arrived yet. */
  readonly body?: string | undefined;
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
    limits: createConcurrencyLimits({ inFlight: 2, inFlightPerDevice: 1, bodies: { inAll: 1, ofCaller: 1 } }),
    invocations: createInvocationRecords({ log, meter: noMeter, hubHost: '', taps }),
    log,
  });

  /** Sends a request, whose response is closed when the test says. */
  function send(sent: Sent = {}) {
    const body = 'body' in sent ? sent.body : '{}';
    const socket = Object.assign(new EventEmitter(), { destroyed: false });
    const given = { headers: sent.headers ?? headers, complete: body !== undefined, socket };
    const request = Object.assign(new PassThrough(), given);
    if (body !== undefined) request.end(body);
    const setHeader = vi.fn();
    const open = { closed: false, writableFinished: false, statusCode: 0, writeContinue: vi.fn(), setHeader };
    const response = Object.assign(new EventEmitter(), open);
    const fields = { correlationId: 'c-1', objectId, model: 'svc.device', method: sent.method ?? 'stop' };
    const result = handler.handle(fields, request as never, response as never);
    const outcome = result.catch((failure) => failure);

    /** @param statusCode undefined: the caller has gone before the response */
    function close(statusCode?: number) {
      Object.assign(response, { closed: true, writableFinished: statusCode !== undefined, statusCode });
      response.emit('close');
    }
    return { result, outcome, close, request, response, socket };
  }
  /** The outcome of a request whose response is closed at once. */
  async function answered(sent?: Sent) {
    const { outcome, close } = send(sent);
    const known = await outcome;
    close(known instanceof Failure ? known.status : 200);
    return known;
  }
  return { handler, send, answered, asked, invoked, lines, told };
}

describe('a request', () => {
  it('is authorized, received and invoked, and has one line when its response is closed', async () => {
    const { handler, send, asked, invoked, lines } = setUp({ object: () => found('gateway-1/bus/drive-1') });
    const { result, close, response } = send();
    const expected = [1, ['c-1']];
    expect([handler.inProgress(), [...handler.requests()].map(({ fields }) => fields.correlationId)]).toEqual(expected);
    expect(await result).toEqual({ status: 7 });
    expect(asked).toEqual([
      { id: objectId, model: 'svc.device', token: `x.${payload}.y`, correlationId: 'c-1', isKnown: false },
    ]);
    expect(invoked).toMatchObject([
      {
        ...{ object: { objectId, type: 'motor@1.0.0' }, claims: { sub: 'u', tid: 'acme' } },
        route: { device: 'gateway-1', target: 'bus/drive-1' },
      },
    ]);
    expect([lines, response.setHeader.mock.calls]).toEqual([[], []]);
    close(200);
    expect(lines).toMatchObject([{ device: 'gateway-1', target: 'bus/drive-1', caller: { sub: 'u' }, status: 200 }]);
    expect(handler.inProgress()).toBe(0);
  });

  it('has ten seconds for look-ups, of which the body takes none', async () => {
    vi.advanceTimersByTime(60_000);
    const { send, invoked, told } = setUp({
      object: async () => {
        await new Promise((resolve) => setTimeout(resolve, 4_000));
        return found('motor-1');
      },
    });
    const { result, request } = send({ body: undefined });
    await vi.advanceTimersByTimeAsync(4_000);
    expect(told).toMatchObject([{ stage: 'invoked', lookUpMs: 4_000 }]);
    await vi.advanceTimersByTimeAsync(5_000);
    request.end('{}');
    await result;
    expect(invoked[0]?.deadline.remaining()).toBe(6_000);
  });

  it('is logged without a target when the device itself is meant, and with names of usual length', async () => {
    const { answered, lines } = setUp();
    await answered();
    expect(lines[0]).not.toHaveProperty('target');
    const long = setUp({ object: () => found(`${'d'.repeat(300)}/${'t'.repeat(300)}`) });
    await long.answered();
    expect([String(long.lines[0]?.['device']).length, String(long.lines[0]?.['target']).length]).toEqual([256, 256]);
  });

  const noToken = 'the information model does not accept the token; get a new one';
  const noRight = 'the caller may not invoke methods of this object';
  const noObject = 'the caller has no object model with this object id and model';
  it.each<[what: string, result: ObjectResult, failure: object]>([
    ['no token', { kind: 'refused', status: 401 }, { reason: 'unauthorized', detail: noToken }],
    ['no right', { kind: 'refused', status: 403 }, { reason: 'forbidden', detail: noRight }],
    ['no object', { kind: 'refused', status: 404 }, { reason: 'object_not_found', detail: noObject }],
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
    const { answered, lines } = setUp({ object: () => result });
    const told = await answered();
    expect(told).toMatchObject(failure);
    expect(lines).toMatchObject([{ reason: told.reason, status: told.status, details: told.detail }]);
    expect(lines[0]).not.toHaveProperty('caller');
  });

  it('is checked before it is looked up, and its body only afterwards', async () => {
    const { answered, asked } = setUp();
    expect(await answered({ headers: {} })).toMatchObject({ reason: 'unauthorized' });
    expect(await answered({ method: '' })).toMatchObject({ reason: 'invalid_request' });
    expect(asked).toEqual([]);
    const { 'content-type': _, ...without } = headers;
    expect(await answered({ headers: without })).toMatchObject({ reason: 'unsupported_media_type' });
    expect(asked.length).toBe(1);
  });

  it.each<[what: string, object: ObjectResult, asks: number, more?: Readonly<Record<string, string>>]>([
    ['it may be invoked', found('motor-1'), 1],
    ['it may not', { kind: 'refused', status: 403 }, 0],
    ['its body is too large', found('motor-1'), 0, { 'content-length': '262145' }],
  ])('is asked for its body when %s', async (_, object, asks, more) => {
    const looking = signal<ObjectResult>();
    const { send } = setUp({ object: () => looking.given });
    const { outcome, response } = send({ headers: { ...headers, expect: '100-continue', ...more } });
    await vi.advanceTimersByTimeAsync(0);
    expect(response.writeContinue).not.toHaveBeenCalled();
    looking.give(object);
    await outcome;
    expect(response.writeContinue).toHaveBeenCalledTimes(asks);
  });

  it.each<[what: string, body: string, detail: RegExp, closes: number]>([
    ['a text that is no JSON', '{', /^the body /, 1],
    ['a value that is no object', '7', /^the body must be a JSON object$/, 0],
  ])('with %s is refused, and not invoked', async (_, body, detail, closes) => {
    const { send, invoked } = setUp();
    const { outcome, response } = send({ body });
    const refused = { reason: 'invalid_request', detail: expect.stringMatching(detail) };
    expect([await outcome, invoked]).toMatchObject([refused, []]);
    expect(response.setHeader.mock.calls).toEqual([['connection', 'close']].slice(0, closes));
  });

  it('gives its places back: of the look-up, of its body, and of the device', async () => {
    const { send, answered } = setUp();
    for (let many = 0; many < 20; many += 1) expect(await answered()).toEqual({ status: 7 });
    for (let again = 0; again < 2; again += 1) {
      const slow = send({ body: undefined });
      await vi.advanceTimersByTimeAsync(0);
      expect(await answered({ body: undefined })).toMatchObject({ reason: 'overloaded' });
      expect(await answered()).toEqual({ status: 7 });
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await slow.outcome).toMatchObject({ reason: 'request_timeout' });
      expect(slow.response.setHeader.mock.calls).toEqual([['connection', 'close']]);
    }
    const busy = setUp({ invoke: () => new Promise(() => {}) });
    busy.send();
    expect(await busy.answered()).toMatchObject({ reason: 'overloaded' });
  });

  const foreign = new Failure('no_reply', 'too late', { foreignDetail: 'words of the device' });
  it.each<[what: string, error: Error, failure: object]>([
    [
      'a look-up fails',
      new Rejection('timeout_exceeded', 'too late'),
      { reason: 'backend_unavailable', retryAfter: 5, fields: { cause: 'too late' } },
    ],
    ['it fails', foreign, { reason: 'no_reply', detail: 'too late' }],
    ['a defect ends it', new TypeError('a defect'), { reason: 'internal_error' }],
  ])('fails as it should when %s', async (_, error, failure) => {
    const { answered, lines } = setUp({ invoke: () => Promise.reject(error) });
    expect(await answered()).toMatchObject(failure);
    expect(JSON.stringify(lines)).not.toContain('words of the device');
  });

  it.each(['done', 'failed'])('ends after the work on it is %s, even if its caller has gone', async (how) => {
    const work = signal();
    const { handler, send, answered, lines } = setUp({
      async invoke() {
        await work.given;
        if (how === 'failed') throw new Failure('no_reply', 'too late');
        return { status: 7 };
      },
    });
    const { outcome, close } = send();
    await vi.advanceTimersByTimeAsync(0);
    close();
    expect([handler.inProgress(), lines]).toEqual([1, []]);
    expect(await answered()).toMatchObject({ reason: 'overloaded' }); // the device still has it
    lines.length = 0;
    work.give();
    await outcome;
    const told = how === 'failed' ? { level: 'warn', reason: 'no_reply', invoked: 'unknown' } : {};
    expect([handler.inProgress(), lines]).toMatchObject([0, [{ callerGone: true, ...told }]]);
  });

  it('ends when its connection does, though its response waits behind another one', async () => {
    const { handler, send, answered, lines } = setUp();
    const { outcome, socket } = send();
    await outcome;
    expect([handler.inProgress(), lines]).toEqual([1, []]);
    socket.destroyed = true;
    socket.emit('close');
    expect([handler.inProgress(), lines]).toMatchObject([0, [{ callerGone: true }]]);
    expect(socket.listenerCount('close')).toBe(0);
    expect(await answered()).toEqual({ status: 7 }); // the device has its place back
  });

  it('is not invoked when its caller has gone before', async () => {
    const looking = signal<ObjectResult>();
    const { send, invoked, lines } = setUp({ object: () => looking.given });
    const { outcome, close, request } = send({ body: undefined });
    close();
    request.destroy();
    looking.give(found('motor-1'));
    expect(await outcome).toMatchObject({ reason: 'invalid_request' });
    expect([invoked, lines]).toMatchObject([[], [{ callerGone: true }]]);
  });
});

describe('the token of a request', () => {
  const object = found('motor-1');
  const refused = (status: 401 | 403) => ({ kind: 'refused', status }) as const;

  /** Looks an object up with each token in turn. @returns whether each was looked up as a known one */
  async function lookUps(turns: readonly [token: string, result: ObjectResult][]): Promise<unknown[]> {
    const results = turns.map(([, result]) => result);
    const { answered, asked } = setUp({ object: () => results.shift() as ObjectResult });
    for (const [token] of turns) await answered({ headers: { ...headers, authorization: `Bearer ${token}` } });
    return asked.map((one) => (one as { isKnown?: boolean }).isKnown);
  }

  it('is recognised when it is exactly the accepted one', async () => {
    const tokens = ['good', 'good', 'goo', 'good.', 'Good', 'good'];
    const known = await lookUps(tokens.map((token) => [token, object]));
    expect(known).toEqual([...[false, true, false], ...[false, false, true]]);
  });

  it('is not recognised when it was refused later, or always', async () =>
    expect(
      await lookUps([
        ['old', object],
        ['old', refused(401)],
        ['old', refused(401)],
        ['reader', refused(403)],
        ['reader', refused(403)],
      ]),
    ).toEqual([false, true, false, false, false]));

  it('has it looked up even when it is recognised', async () =>
    expect(
      await lookUps([
        ['x', object],
        ['x', refused(403)],
        ['x', object],
      ]),
    ).toEqual([false, true, true]));
});

describe('a stop', () => {
  it('refuses new requests, and is idle when the others have their lines', async () => {
    const { handler, send, asked } = setUp();
    await handler.idle();
    const early = send({ body: undefined });
    await vi.advanceTimersByTimeAsync(0);
    expect(handler.isStopping()).toBe(false);
    handler.stop();
    expect(handler.isStopping()).toBe(true);
    const late = send();
    expect(await late.outcome).toMatchObject({ reason: 'stopping', retryAfter: 1 });
    expect(asked.length).toBe(1);
    let isIdle = false;
    void handler.idle().then(() => (isIdle = true));
    late.close(503);
    await vi.advanceTimersByTimeAsync(0);
    expect(isIdle).toBe(false);
    early.request.end('{}');
    expect(await early.result).toEqual({ status: 7 });
    early.close(200);
    await vi.advanceTimersByTimeAsync(0);
    expect(isIdle).toBe(true);
  });

  it('ends what waits for a look-up or a body when its time is over', async () => {
    const receiving = setUp();
    const hanging = setUp({ object: () => new Promise(() => {}) });
    const waiting = [receiving.send({ body: undefined }), hanging.send()];
    await vi.advanceTimersByTimeAsync(0);
    for (const { handler } of [receiving, hanging]) handler.abort();
    for (const { outcome } of waiting) {
      const expected = { reason: 'stopping', retryAfter: 1, detail: expect.stringContaining('nothing was invoked') };
      expect(await outcome).toMatchObject(expected);
    }
  });
});

// The order of a stop of ten seconds and its limits (M14, D205), and what the front door says about itself on the admin port.

const aborting = ['warn 9500', 'abort requests 9500', 'abort methods 9500'];
const never = Number.POSITIVE_INFINITY;
const after = (ms: number) =>
  new Promise<void>((resolve) => (ms === never ? undefined : ms === 0 ? resolve() : setTimeout(resolve, ms)));

it.each<[what: string, closedMs: number, idleMs: number, expected: readonly string[]]>([
  ['ends as soon as all connections have ended', 0, 0, ['drained 0']],
  ['does not wait for connections without a request', never, 0, ['close connections 500', 'drained 500']],
  [
    'aborts open requests while there is time for their answers, and closes the rest at its end',
    ...([never, 9_900] as const),
    [...aborting, 'close connections 10000', 'drained 10000'],
  ],
  ['closes no connection that its answer ends', 9_900, 9_900, [...aborting, 'drained 9900']],
  [
    'does not wait long for a request that does not end',
    ...([never, never] as const),
    [...aborting, 'close connections 10000', 'drained 10250'],
  ],
])('the drain %s', async (_, closedMs, idleMs, expected) => {
  const events: string[] = [];
  const beganAt = performance.now();
  const note = (what: string) => void events.push(`${what} ${performance.now() - beganAt}`);
  const [closed, idle] = [after(closedMs), after(idleMs)];
  const drained = drain({
    drainMs: 10_000,
    handler: { stop: () => note('refuse'), abort: () => note('abort requests'), idle: () => idle },
    directMethods: { abort: () => note('abort methods') },
    server: { close: () => closed, closeAllConnections: () => note('close connections') },
    log: { warn: () => note('warn') },
  }).then(() => note('drained'));
  await vi.advanceTimersByTimeAsync(11_000);
  await drained;
  expect(events).toEqual(['refuse 0', ...expected]);
});

const records = createInvocationRecords({ log: createLog('silent'), meter: noMeter, hubHost: '' });
const named = { objectId: 'o', model: 'm', method: 'stop' };
const begin = (correlationId: string) => records.begin({ correlationId, ...named });

it('operators see the hundred oldest invocations in progress, with their age and what each waits for', async () => {
  const begun = Array.from({ length: 101 }, (_, index) => begin(`c-${index}`));
  void begun[1]?.waitsFor('sign the files', 'file storage', new Promise(() => {}));
  void begun[1]?.waitsFor('method stop', 'device', new Promise(() => {}));
  vi.advanceTimersByTime(4_000);
  const routes = frontDoorRoutes(
    { requests: () => begun, inProgress: () => begun.length },
    { states: () => ({ informationModel: { circuit: 'open' } }) as never },
  );
  expect(await routes['/backends']?.get?.({} as never)).toEqual({ informationModel: { circuit: 'open' } });
  const shown = (await routes['/requests']?.get?.({} as never)) as {
    readonly inProgress: number;
    readonly requests: readonly Record<string, unknown>[];
  };
  expect([shown.inProgress, shown.requests.length]).toEqual([101, 100]);
  const expected = { correlationId: 'c-0', ...named, seconds: 4, waitsFor: 'its body, or nothing' };
  expect(shown.requests[0]).toMatchObject(expected);
  expect(shown.requests[1]).toMatchObject({
    waitsFor: 'an answer of the file storage (sign the files); an answer of the device (method stop)',
  });
});
