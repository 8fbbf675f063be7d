import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import net, { createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Axios } from 'axios';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { portForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { createJoined, createTransport, TransportFailure, usualAnswerBytes } from '../../src/backends/transport.ts';
import { createLine, type Line } from '../../src/engine/rooms.ts';
import { rejectionBy, serve } from './harness.ts';

function client(url: string, { connections = 4, attemptTimeoutMs = 60_000 } = {}) {
  const transport = createTransport(url, { connections, attemptTimeoutMs });
  onTestFinished(() => transport.close());
  const axios = new Axios({ adapter: transport.adapter, maxContentLength: 1000 });
  return (method: string, url: string, more: object = {}) => axios.request<Buffer>({ method, url, ...more });
}

async function serveTcp(onRequest: (socket: Socket) => unknown): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => onRequest(socket));
  });
  return `http://127.0.0.1:${await portForTest(server)}`;
}

/** Limits expire when the test says so, however late a busy machine is. */
function time() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  return {
    passes: (ms: number) => void vi.advanceTimersByTime(ms),
    /** What has failed as soon as this time has passed. */
    async failsAfter(ms: number, failed: Promise<TransportFailure>) {
      vi.advanceTimersByTime(ms);
      const later = new Promise((resolve) => setImmediate(resolve)).then(() => Promise.reject(new Error('goes on')));
      return Promise.race([failed, later]);
    },
  };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

async function serveSilently() {
  let arrived = (_: IncomingMessage) => {};
  const request = new Promise<IncomingMessage>((resolve) => (arrived = resolve));
  return { url: await serve((request) => arrived(request)), request };
}

const failure = (promise: Promise<unknown>) => rejectionBy(TransportFailure, promise);

describe('the transport', () => {
  it('sends method, path below the base path, headers and body bytes as they are', async () => {
    const seen: unknown[] = [];
    const url = await serve(async (request, response) => {
      const { authorization, 'content-type': type, 'user-agent': agent } = request.headers;
      seen.push([request.method, request.url, authorization, type, agent, await text(request)]);
      response.end('{"a":1.0}');
    });
    const request = client(`${url}/v1//`);
    const body = '{ "serial": 12345678901234567890, "ü": 1.0 }';
    const headers = { authorization: 'Bearer t', 'content-type': 'application/json' };
    const { status, headers: answered, data } = await request('PUT', '/objects/a%2Fb?x=1', { data: body, headers });
    expect(seen).toEqual([['PUT', '/v1/objects/a%2Fb?x=1', 'Bearer t', 'application/json', undefined, body]]);
    expect([status, { ...answered }, data.toString()]).toEqual([200, {}, '{"a":1.0}']);
  });

  it('resolves with any status and passes Retry-After on', async () => {
    const url = await serve((_, response) => response.writeHead(503, { 'retry-after': '7' }).end());
    const { status, headers, data } = await client(url)('GET', '/');
    expect([status, headers['retry-after'], data.length]).toEqual([503, '7', 0]);
  });

  it('does not follow a redirect', async () => {
    let requests = 0;
    const url = await serve((_, response) => {
      requests += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect([(await client(url)('GET', '/')).status, requests]).toEqual([302, 1]);
  });

  it.each([
    ['does not say for how long it keeps it', undefined, 4_000],
    ['keeps it for two seconds', 'timeout=2', 1_500],
    ['keeps it for one second', 'timeout=1', 500],
  ])('uses a connection again until half a second before its end when the backend %s', async (_, keepAlive, keptMs) => {
    const { passes } = time();
    const sockets = new Set<Socket>();
    const url = await serve(
      ({ socket, url }, response) => {
        sockets.add(socket);
        if (keepAlive !== undefined) response.setHeader('keep-alive', keepAlive);
        if (url === '/') response.end();
        else socket.destroy();
      },
      { keepAliveTimeout: 0 },
    );
    const request = client(url, { connections: 1 });
    const connectionsAfter = async (idleMs: number) => {
      passes(idleMs);
      await request('GET', '/');
      await new Promise((resolve) => setImmediate(resolve));
      return sockets.size;
    };
    expect(await connectionsAfter(0)).toBe(1);
    expect(await connectionsAfter(keptMs - 1)).toBe(1);
    expect(await connectionsAfter(keptMs)).toBe(2);
    // The backend closes it just then: B4 decides whether the call is repeated.
    const { fault, sent } = await failure(request('PUT', '/closed', { data: '{}' }));
    expect([fault, sent, sockets.size]).toEqual(['connection lost', true, 2]);
    expect(await connectionsAfter(0)).toBe(3);
  });

  it('has as many requests at a time as connections', async () => {
    const open: ServerResponse[] = [];
    const url = await serve(({ url }, response) => {
      if (url === '/other') response.end();
      else open.push(response);
    });
    const request = client(url, { connections: 2 });
    const all = Array.from({ length: 8 }, () => request('GET', '/'));
    for (let answered = 0; answered < all.length; answered += 2) {
      // Each has a connection of its own, and comes after all that were sent before.
      for (let later = 0; later < 3; later += 1) await client(url)('GET', '/other');
      await until(() => open.length >= 2);
      expect(open).toHaveLength(2);
      for (const response of open.splice(0)) response.end();
    }
    await Promise.all(all);
  });

  it('holds one piece at a time of an answer that comes byte by byte', async () => {
    const text = JSON.stringify('ü'.repeat(450));
    const url = await serveTcp((socket) => {
      const pieces = Array.from(Buffer.from(text), (byte) => [Buffer.from('1\r\n'), Buffer.from([byte, 13, 10])]);
      const all = ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', ...pieces.flat(), '0\r\n\r\n'];
      socket.write(all.map((part) => Buffer.from(part).toString('latin1')).join(''), 'latin1');
    });
    const joining = vi.spyOn(Buffer, 'concat');
    expect((await client(url)('GET', '/')).data.toString()).toBe(text);
    expect(joining.mock.calls.filter(([pieces]) => pieces.length > 2)).toEqual([]);
  });

  it('reports a refused connection as such, and the request as unsent', async () => {
    const closed = `http://127.0.0.1:${await freePort()}`;
    const { fault, sent } = await failure(client(closed)('POST', '/', { data: '{}' }));
    expect([fault, sent]).toEqual(['connection refused', false]);
  });

  it('reports that this process may open no more connections', async () => {
    vi.spyOn(net, 'connect').mockImplementation(() => {
      const error = Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' });
      return new net.Socket().destroy(error);
    });
    const { fault, sent } = await failure(client('http://127.0.0.1:9')('POST', '/', { data: '{}' }));
    expect([fault, sent]).toEqual(['too many open files', false]);
  });

  it('reports a name that does not resolve as no connection', async () => {
    const { fault, sent, message } = await failure(client('http://nowhere.invalid')('GET', '/'));
    expect([fault, sent, message]).toEqual(['no connection', false, expect.stringMatching(/^no connection: ./)]);
  });

  const half = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"a"';
  it.each<[what: string, onRequest: (socket: Socket) => unknown]>([
    ['breaks before the answer', (socket) => socket.resetAndDestroy()],
    ['breaks after half an answer', (socket) => socket.write(half, () => socket.resetAndDestroy())],
    ['ends after half an answer', (socket) => socket.end(half)],
    ['has an answer that is not HTTP', (socket) => socket.end('220 smtp.example ESMTP\r\n')],
  ])('reports a connection as lost, and the request as sent, if it %s', async (_, onRequest) => {
    const { fault, sent } = await failure(client(await serveTcp(onRequest))('POST', '/', { data: '{}' }));
    expect([fault, sent]).toEqual(['connection lost', true]);
  });

  it('aborts an attempt that gets no answer in time, and closes its connection', async () => {
    const { failsAfter } = time();
    const { url, request: seen } = await serveSilently();
    const failed = failure(client(url, { attemptTimeoutMs: 40 })('POST', '/', { data: '{}' }));
    const disconnected = once((await seen).socket, 'close');
    const { fault, sent } = await failsAfter(40, failed);
    expect([fault, sent]).toEqual(['no answer in time', true]);
    await disconnected;
  });

  it('aborts an answer that arrives too slowly', async () => {
    const { passes, failsAfter } = time();
    let drops = 0;
    const url = await serve((_, response) => {
      const drip = setInterval(() => {
        response.write(' ');
        drops += 1;
      }, 1);
      response.on('close', () => clearInterval(drip));
    });
    const failed = failure(client(url, { attemptTimeoutMs: 60 })('GET', '/'));
    await until(() => drops > 2);
    passes(59);
    const before = drops;
    await until(() => drops > before + 2);
    expect((await failsAfter(1, failed)).fault).toBe('no answer in time');
  });

  it('applies the size limit of a request', async () => {
    const { failsAfter } = time();
    const { url, request: seen } = await serveSilently();
    const failed = failure(client(url)('GET', '/', { timeout: 30 }));
    await seen;
    expect((await failsAfter(30, failed)).fault).toBe('no answer in time');
  });

  it('aborts a queued request as unsent, and never sends it', async () => {
    const { failsAfter } = time();
    const paths: (string | undefined)[] = [];
    let answerFirst: (() => void) | undefined;
    const url = await serve((request, response) => {
      paths.push(request.url);
      if (answerFirst) response.end();
      else answerFirst = () => response.end();
    });
    const request = client(url, { connections: 1 });
    const first = request('GET', '/first');
    await until(() => answerFirst !== undefined);
    const failed = failure(request('POST', '/queued', { data: '{}', timeout: 30 }));
    const { fault, sent } = await failsAfter(30, failed);
    expect([fault, sent]).toEqual(['no answer in time', false]);
    answerFirst?.();
    await first;
    await request('GET', '/third');
    expect(paths).toEqual(['/first', '/third']);
  });

  it.each<[when: string, answer: (response: ServerResponse) => unknown]>([
    [
      'without reading it when its content-length does',
      (one) => one.writeHead(200, { 'content-length': '1001' }).flushHeaders(),
    ],
    ['as soon as it does', (one) => one.writeHead(200).write('x'.repeat(1001))],
  ])('refuses an answer that exceeds the limit, %s', async (_, answer) => {
    const url = await serve((_, response) => void answer(response));
    expect((await failure(client(url)('GET', '/'))).fault).toBe('answer too large');
  });

  it('reads an answer of exactly the limit', async () => {
    const url = await serve((_, response) => response.end('x'.repeat(1000)));
    expect((await client(url)('GET', '/')).data.length).toBe(1000);
  });

  it('does not retry a request that can never be sent: its failure is not a TransportFailure', async () => {
    const url = await serve((_, response) => response.end());
    const promise = client(url)('GET', '/', { headers: { authorization: 'Bearer €' } });
    await expect(promise).rejects.not.toBeInstanceOf(TransportFailure);
  });

  it('aborts requests in progress when it is closed', async () => {
    const { url, request: seen } = await serveSilently();
    const transport = createTransport(url, { connections: 1, attemptTimeoutMs: 60_000 });
    const request = failure(new Axios({ adapter: transport.adapter }).request({ method: 'GET', url: '/' }));
    await seen;
    await transport.close();
    expect((await request).fault).toBe('connection lost');
  });
});

describe('a large answer', () => {
  const size = usualAnswerBytes + 1;
  const limit = 4 * size;
  const none = { messages: 0, bytes: 0 };

  function charged(url: string, maxBytes: number) {
    const room = createLine({ maxMessages: Number.POSITIVE_INFINITY, maxBytes });
    const taken = vi.fn<Line['take']>(room.take);
    const { shrink, give } = room;
    const given = { connections: 4, attemptTimeoutMs: 60_000, room: { take: taken, shrink, give } };
    const transport = createTransport(url, given);
    onTestFinished(() => transport.close());
    const request = () => transport.adapter({ method: 'GET', url: '/', maxContentLength: limit } as never);
    return { room, taken, request };
  }

  it('takes its room once, whatever an informational one before it says of its length', async () => {
    const head = (status: string, length: number) => `HTTP/1.1 ${status}\r\ncontent-length: ${length}\r\n\r\n`;
    const url = await serveTcp((socket) =>
      socket.end(`${head('103 Early Hints', 2 * size)}${head('200 OK', size)}${'x'.repeat(size)}`),
    );
    const { room, request } = charged(url, 100 * size);
    const answer = await request();
    expect([answer.status, answer.data.length]).toEqual([200, size]);
    answer.release?.();
    expect(room.inFlight()).toEqual(none);
  });

  const whole = (bytes: number) => serve((_, response) => void response.end('x'.repeat(bytes)));
  const inChunks = (bytes: number, status = 200) =>
    serve((_, response) => {
      response.writeHead(status).write('x'.repeat(bytes - 1));
      response.end('x');
    });

  it.each([
    ['of known length', whole, 2 * size],
    ['of unknown length', inChunks, 2 * limit],
  ])('%s is charged before it is received, and until it has been read', async (_, answer, reserved) => {
    const { room, taken, request } = charged(await answer(size), 4 * limit);
    const { data, release } = await request();
    expect([data.length, taken.mock.calls]).toEqual([size, [[reserved]]]);
    expect(room.inFlight()).toEqual({ messages: 1, bytes: 2 * size });
    release?.();
    release?.();
    expect(room.inFlight()).toEqual(none);
  });

  it.each([
    ['is no larger than a usual one', () => whole(usualAnswerBytes)],
    ['is no larger than a usual one, in chunks', () => inChunks(usualAnswerBytes)],
    ['is no success', () => inChunks(3 * usualAnswerBytes, 500)],
  ])('is not charged when it %s, and then little is kept', async (_, answer) => {
    const { taken, request } = charged(await answer(), 1);
    const { data, release } = await request();
    expect(data.length).toBeLessThan(2 * usualAnswerBytes + 1);
    expect([taken.mock.calls, release]).toEqual([[], undefined]);
  });

  it('waits for room, and its time begins again then', async () => {
    const { passes } = time();
    const { room, taken, request } = charged(await whole(size), 2 * size);
    const first = await request();
    const second = request();
    await until(() => taken.mock.calls.length === 2);
    passes(600_000);
    first.release?.();
    const { data, release } = await second;
    expect([data.length, room.inFlight().messages]).toEqual([size, 1]);
    release?.();
    expect(room.inFlight()).toEqual(none);
  });

  it('fails in time after it has waited for room', async () => {
    const { passes, failsAfter } = time();
    const url = await serve((_, response) => response.writeHead(200, { 'content-length': size }).write('x'));
    const { room, taken, request } = charged(url, 2 * size);
    void room.take(2 * size);
    const failed = failure(request());
    await until(() => taken.mock.calls.length === 1);
    passes(600_000);
    room.give(2 * size);
    await new Promise((resolve) => setImmediate(resolve));
    expect([(await failsAfter(60_000, failed)).fault, room.inFlight()]).toEqual(['no answer in time', none]);
  });

  it('gives its room back when it breaks off, also when it has none yet', async () => {
    const sockets: Socket[] = [];
    const url = await serveTcp((socket) => {
      sockets.push(socket);
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\nx`);
    });
    const { room, taken, request } = charged(url, 2 * size);
    const broken = [failure(request()), failure(request())];
    await until(() => taken.mock.calls.length === 2);
    for (const socket of sockets) socket.resetAndDestroy();
    expect((await Promise.all(broken)).map(({ fault }) => fault)).toEqual(['connection lost', 'connection lost']);
    expect(room.inFlight()).toEqual(none);
  });
});

it('many small pieces are joined in few buffers, although the memory of each is reused', () => {
  const allocated = vi.spyOn(Buffer, 'allocUnsafe');
  const joined = createJoined();
  joined.add(Buffer.from('-'));
  const piece = Buffer.alloc(1);
  let text = '-';
  for (let index = 0; index < 100_000; index += 1) {
    piece[0] = 0x61 + (index % 26);
    text += piece.toString();
    joined.add(piece);
  }
  expect(joined.bytes().toString() === text).toBe(true);
  expect(joined.bytes().buffer.byteLength).toBeLessThan(2 * text.length + 16_384);
  expect(allocated.mock.calls.length).toBeLessThan(10);
});

it('the only piece is not copied', () => {
  const joined = createJoined();
  const piece = Buffer.from('{}');
  joined.add(piece);
  expect(joined.bytes()).toBe(piece);
});

it('pieces of any size are joined, and no pieces make an empty buffer', () => {
  const joined = createJoined();
  expect(joined.bytes().length).toBe(0);
  const pieces = ['', 'a', 'b'.repeat(20_000), '', 'c'.repeat(20_000), 'd'];
  for (const piece of pieces) joined.add(Buffer.from(piece));
  expect(joined.bytes().toString()).toBe(pieces.join(''));
});
