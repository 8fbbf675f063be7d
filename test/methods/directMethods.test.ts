import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { ensureCertificates } from 'iot-hub-emulator/testing';
import timersOfPool from 'undici/lib/util/timers.js';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { folderForAll, portForTest, startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';
import { createDirectMethods } from '../../src/hub/methods/directMethods.ts';
import { rotatingSecret } from '../support/secretVolume.ts';
import { soon } from '../support/waiting.ts';

// Calls of direct methods at a hub that does what the test says; what a stop says of the calls that it ends (M14).

const call = { device: 'motor-1', module: '', payload: {}, timeoutSeconds: 300 };

const connectionOf = (hostName: string, key = 'a2V5') =>
  `HostName=${hostName};SharedAccessKeyName=service;SharedAccessKey=${Buffer.from(key).toString('base64')}`;

const directory = folderForAll('direct-methods');
let certificates: Awaited<ReturnType<typeof ensureCertificates>>;
beforeAll(async () => {
  certificates = await ensureCertificates(join(directory, 'hub'));
});

/** A client of a hub, until the test ends. */
function methodsOf(...given: Parameters<typeof createDirectMethods>) {
  const methods = createDirectMethods(...given);
  onTestFinished(() => methods.close());
  return methods;
}

type Answer = readonly [status: number, body: string] | undefined;

/** A hub that answers one request after the other; `undefined` does not answer. The last answer is repeated. */
async function hubThatAnswers(...answers: readonly Answer[]) {
  const { cert, key, ca } = certificates;
  const requests: { readonly path: string; readonly authorization: string; readonly body: unknown }[] = [];
  const server = createHttpsServer({ cert, key }, async (request, response) => {
    const body: unknown = JSON.parse(await text(request));
    const { url = '', headers } = request;
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push({ path: url.split('?')[0] ?? '', authorization: headers.authorization ?? '', body });
    if (answer) response.writeHead(answer[0], { 'content-type': 'application/json' }).end(answer[1]);
  });
  const port = await portForTest(server);
  return { requests, ca, server, port, hostName: `localhost:${port}` };
}

/** Such a hub, and a client of it with a key. */
async function withKey(...answers: readonly Answer[]) {
  const hub = await hubThatAnswers(...answers);
  return { ...hub, methods: methodsOf(connectionOf(hub.hostName), hub.ca) };
}
const good = '{"status":7,"payload":{"a":1}}';
const response = { kind: 'response', status: 7, payload: { a: 1 }, text: good };

describe('a call', () => {
  it.each([
    ['the device', '', '/twins/motor-1/methods'],
    ['a module', 'edge', '/twins/motor-1/modules/edge/methods'],
  ])('reaches %s with its payload and its time, and gives no time to connect', async (_, module, path) => {
    const { requests, methods } = await withKey([200, good]);
    expect(await methods.invoke({ ...call, module, payload: { b: 2 } })).toEqual(response);
    const body = {
      methodName: 'invokeMethod',
      payload: { b: 2 },
      ...{ responseTimeoutInSeconds: 300, connectTimeoutInSeconds: 0 },
    };
    expect(requests).toMatchObject([{ path, body }]);
  });

  it.each(['{}', '"text"', '7', 'null', '{"status":1.5}', '{"status":"7"}'])('has a bad reply in %s', async (body) => {
    const { methods } = await withKey([200, body]);
    expect(await methods.invoke(call)).toEqual({ kind: 'failure', failure: 'bad_reply', status: 200 });
  });

  const largest = good + ' '.repeat(2 * 1024 * 1024 - good.length);
  const payload = '€'.repeat(300_000);
  const threeBytes = JSON.stringify({ status: 7, payload });
  it.each<[what: string, status: number, body: string, result: object]>([
    [
      'that comes in pieces, some of which end within a letter',
      200,
      threeBytes,
      { ...response, payload, text: threeBytes },
    ],
    ['of the largest size', 200, largest, { ...response, text: largest }],
    ['that is larger', 200, `${largest} `, { kind: 'failure', failure: 'outcome_unknown' }],
    ['with a status of no success', 300, good, { kind: 'failure', failure: 'outcome_unknown', status: 300 }],
  ])('has an answer %s', async (_, status, body, result) => {
    const { methods } = await withKey([status, body]);
    expect(await methods.invoke(call)).toMatchObject(result);
  });

  it('that is ended before there is a connection is not sent later either', async () => {
    const { requests, ca, port } = await hubThatAnswers([200, good]);
    const gate = createServer();
    const { port: silent, sockets } = await startForTest(listening(gate));
    const methods = methodsOf(connectionOf(`localhost:${silent}`), ca);
    const ended = methods.invoke(call);
    await once(gate, 'connection');
    methods.abort();
    expect(await ended).toEqual({ kind: 'failure', failure: 'stopped_unsent' });
    const lead = (socket: Socket) => void socket.pipe(connect(port, '127.0.0.1')).pipe(socket);
    gate.on('connection', lead);
    sockets.forEach(lead);
    expect(await methods.invoke({ ...call, device: 'motor-2' })).toEqual(response);
    expect(requests.map(({ path }) => path)).toEqual(['/twins/motor-2/methods']);
  });

  it('that is ended while the hub has it was sent', async () => {
    const { requests, methods } = await withKey(undefined);
    const called = methods.invoke(call);
    await vi.waitFor(() => expect(requests).toHaveLength(1), soon);
    methods.abort();
    expect(await called).toEqual({ kind: 'failure', failure: 'stopped' });
  });

  it('without a connection is given up unsent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const server = createServer();
    const methods = methodsOf(connectionOf(`127.0.0.1:${await portForTest(server)}`));
    const called = methods.invoke({ ...call, timeoutSeconds: 5 });
    await once(server, 'connection');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await called).toEqual({ kind: 'failure', failure: 'unavailable' });
  });

  it('leaves a connection, which a close ends', async () => {
    const { server, methods } = await withKey([200, good]);
    const connected = once(server, 'secureConnection');
    expect(await methods.invoke(call)).toEqual(response);
    const [socket] = await connected;
    const closed = once(socket, 'close');
    methods.close();
    await closed;
  });

  it('that finds no hub was not sent', async () => {
    const methods = methodsOf(connectionOf('localhost:1'));
    expect(await methods.invoke(call)).toMatchObject({ failure: 'unavailable', cause: 'ECONNREFUSED' });
  });
  it('may have reached a device that the hub does not find, unless the hub says otherwise', async () => {
    const { methods } = await withKey([404, '{}']);
    expect(await methods.invoke(call)).toEqual({ kind: 'failure', failure: 'device_gone', status: 404 });
  });

  it('is given up five seconds after its time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { requests, methods } = await withKey(undefined);
    const settled = vi.fn();
    const called = methods.invoke({ ...call, timeoutSeconds: 5 }).finally(settled);
    while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(9_999);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await called).toEqual({ kind: 'failure', failure: 'no_reply' });
  });
});

describe('in time that passes only when the test says so', () => {
  function inVirtualTime() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  }
  /** For the limits of the connections, which have a clock of their own. */
  const passInPool = (ms: number) => {
    timersOfPool.tick(); // what has just begun counts from here
    timersOfPool.tick(ms);
  };
  /** Enough for what a closed connection causes. */
  const manyTurns = async (isOver: () => boolean) => {
    for (let turns = 0; turns < 1_000 && !isOver(); turns += 1) await turn();
  };

  it('a connection without a call is closed after 20 s, however long the hub would keep it', async () => {
    const { server, methods } = await withKey([200, good]);
    server.keepAliveTimeout = 72_000; // its answers say so
    inVirtualTime();
    const connections: Socket[] = [];
    server.on('secureConnection', (socket) => void connections.push(socket));
    for (const passedMs of [19_000, 19_000, 0]) {
      expect(await methods.invoke(call)).toEqual(response);
      await manyTurns(() => false);
      await vi.advanceTimersByTimeAsync(passedMs);
    }
    await vi.advanceTimersByTimeAsync(21_000);
    await manyTurns(() => connections[0]?.destroyed === true);
    expect(connections.map(({ destroyed }) => destroyed)).toEqual([true]);
  });

  it('a call that gets no connection in 10 s fails unsent, however long the method may take', async () => {
    const server = createServer();
    const port = await portForTest(server);
    inVirtualTime();
    const settled = vi.fn();
    void methodsOf(connectionOf(`127.0.0.1:${port}`))
      .invoke(call)
      .then(settled);
    await once(server, 'connection');
    passInPool(9_000);
    await manyTurns(() => false);
    expect(settled).not.toHaveBeenCalled();
    passInPool(2_000);
    await manyTurns(() => settled.mock.calls.length > 0);
    expect(settled.mock.calls).toMatchObject([[{ failure: 'unavailable', cause: 'UND_ERR_CONNECT_TIMEOUT' }]]);
  });

  it('a method may take all of its 300 s, and the answer five more', async () => {
    const { requests, methods } = await withKey(undefined);
    inVirtualTime();
    const called = methods.invoke(call);
    while (requests.length === 0) await turn();
    passInPool(304_000);
    await manyTurns(() => false);
    await vi.advanceTimersByTimeAsync(305_000);
    expect(await called).toEqual({ kind: 'failure', failure: 'no_reply' });
  });
});

describe('with an identity', () => {
  const setUp = async (getToken: () => Promise<string>, answer: Answer = [200, good]) => {
    const { requests, ca, hostName } = await hubThatAnswers(answer);
    const expiresOnTimestamp = Date.now() + 3_600_000;
    const credential = { scope: 's', getToken: async () => ({ token: await getToken(), expiresOnTimestamp }) };
    return { requests, methods: methodsOf({ hostName, credential }, ca) };
  };

  it('each call has the token of the moment (D366)', async () => {
    const tokens = ['one', 'two'];
    const { requests, methods } = await setUp(async () => tokens.shift() ?? '');
    for (let calls = 0; calls < 2; calls += 1) expect(await methods.invoke(call)).toEqual(response);
    expect(requests.map(({ authorization }) => authorization)).toEqual(['Bearer one', 'Bearer two']);
  });

  it('a call without a token is not sent', async () => {
    const { requests, methods } = await setUp(() => Promise.reject(new Error('none')));
    expect([await methods.invoke(call), requests]).toEqual([{ kind: 'failure', failure: 'unavailable' }, []]);
  });

  it('a call whose token does not come fails unsent after 5 s', async () => {
    const { requests, methods } = await setUp(() => new Promise(() => {}));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const called = methods.invoke(call);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([await called, requests]).toEqual([{ kind: 'failure', failure: 'unavailable' }, []]);
  });

  it('a stop ends a call that waits for its token', async () => {
    const { requests, methods } = await setUp(() => new Promise(() => {}));
    const called = methods.invoke(call);
    methods.abort();
    expect([await called, requests]).toEqual([{ kind: 'failure', failure: 'stopped_unsent' }, []]);
  });

  it('a refused call is sent once', async () => {
    const { requests, methods } = await setUp(async () => 't', [401, '{}']);
    const expected = { kind: 'failure', failure: 'refused', status: 401, date: expect.stringContaining('GMT') };
    expect(await methods.invoke(call)).toEqual(expected);
    expect(requests).toHaveLength(1);
  });
});

describe('with a key in a file', () => {
  /** @param next the key that is in the file when the hub has refused the first one */
  async function setUp(next: string | undefined, ...answers: readonly Answer[]) {
    vi.useFakeTimers({ toFake: ['Date'] }); // signatures differ by their keys only
    const { requests, ca, hostName } = await hubThatAnswers(...answers);
    const { secret, change } = rotatingSecret(...['one', next ?? []].flat().map((key) => connectionOf(hostName, key)));
    const methods = methodsOf(secret, ca);
    return { requests, renew: secret.renew, change: (key: string) => change(connectionOf(hostName, key)), methods };
  }
  const signed = (requests: readonly { readonly authorization: string }[]) =>
    new Set(requests.map(({ authorization }) => /sig=([^&]+)/.exec(authorization)?.[1])).size;

  it('a refused call is sent again with the next key, once (D397)', async () => {
    const { requests, methods } = await setUp('two', [401, '{}'], [200, good]);
    expect([await methods.invoke(call), requests.length, signed(requests)]).toEqual([response, 2, 2]);
  });

  it.each([
    ['is sent once when there is no other', undefined, [401, '{}'], 'refused', 1, 1],
    ['is sent twice at most', 'two', [401, '{}'], 'refused', 1, 2],
    ['is not sent again when it has failed otherwise', 'two', [429, '{}'], 'throttled', 0, 1],
  ] as const)('a call %s', async (_, next, answer, failure, renewals, sent) => {
    const { requests, renew, methods } = await setUp(next, answer);
    expect(await methods.invoke(call)).toMatchObject({ kind: 'failure', failure });
    expect([renew.mock.calls.length, requests.length]).toEqual([renewals, sent]);
  });

  it('a call that is refused with a key that is replaced meanwhile is sent again with the next', async () => {
    const { requests, change, methods } = await setUp(undefined, [401, '{}'], [200, good]);
    const called = methods.invoke(call);
    change('two');
    expect([await called, requests.length, signed(requests)]).toEqual([response, 2, 2]);
  });

  it('calls are signed anew after five minutes, and when the clock was set back as far', async () => {
    const { requests, methods } = await setUp(undefined, [200, good]);
    const began = Date.now();
    for (const passedMs of [0, 299_999, 300_000, 0]) {
      vi.setSystemTime(began + passedMs);
      expect(await methods.invoke(call)).toEqual(response);
    }
    const ends = requests.map(({ authorization }) => Number(/se=(\d+)/.exec(authorization)?.[1]) * 1000);
    expect(ends.map((end) => Math.floor((end - began) / 60_000))).toEqual([60, 60, 65, 60]);
    expect(signed(requests)).toBe(2); // the last one is the first again
  });

  it('later calls are signed with the key of the moment', async () => {
    const { requests, change, methods } = await setUp(undefined, [200, good]);
    for (const key of ['one', 'one', 'two']) {
      change(key);
      expect(await methods.invoke(call)).toEqual(response);
    }
    expect([requests.length, signed(requests)]).toEqual([3, 2]);
  });
});
