import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { serveHealth } from '@device-messaging/telemetry/health.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startAdminServer } from '../../src/admin/adminServer.ts';

/** Short, so that a client which is too slow is cut off soon. */
const limits = { headersMs: 150, requestMs: 300, answerMs: 200, idleMs: 100 };
const here = '127.0.0.1';
/** More than the buffers of a connection take. */
const large = 'x'.repeat(32 * 1024 * 1024);

let streamed: ServerResponse | undefined;
const routes = {
  '/large': { about: 'a large answer', get: () => large },
  '/level': { about: 'takes a body', put: () => ({}) },
  '/stream': {
    about: 'an answer that goes on',
    stream(_: unknown, response: ServerResponse) {
      response.writeHead(200);
      response.write('first');
      streamed = response;
    },
  },
};
const admin = () => startAdminServer({ host: here, port: 0, token: '', about: {}, routes, limits });
const servers = {
  'the admin port': { start: admin, largest: '/large', body: 'PUT /level' },
  'the health port': {
    start: () =>
      serveHealth(
        { host: here, port: 0, settings: { host: 'A_HOST', port: 'A_PORT' } },
        { missing: () => [], metrics: () => large },
        limits,
      ),
    largest: '/metrics',
    body: 'PUT /livez',
  },
};

function connectTo(port: number): Socket {
  const socket = connect({ port, host: here, allowHalfOpen: true });
  socket.on('error', () => {}); // a reset is a way of being cut off
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Resolves when the server has closed the connection, or has reset it because the client went on sending. */
const cutOff = (socket: Socket) =>
  new Promise<void>((resolve) => void socket.resume().once('end', resolve).once('close', resolve));

/** Sends the beginning, then one byte after the other, until it is cut off. */
function trickle(socket: Socket, beginning: string) {
  socket.write(beginning);
  const timer = setInterval(() => socket.write('x'), 10);
  socket.once('close', () => clearInterval(timer));
}

const put = (line: string) =>
  `${line} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n`;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

describe.each(Object.entries(servers))('%s', (_name, { start, largest, body }) => {
  async function opened() {
    const server = await start();
    onTestFinished(() => server.close());
    return server.port;
  }

  it.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => {}],
    ['sends its headers byte by byte', (socket) => trickle(socket, 'GET / HTTP/1.1\r\nhost: localhost\r\nx: ')],
    ['sends its body byte by byte', (socket) => trickle(socket, put(body))],
    ['asks nothing more', (socket) => void socket.write(get('/'))],
  ])('disconnects a client that %s', async (_what, act) => {
    const socket = connectTo(await opened());
    const ended = cutOff(socket);
    act(socket);
    await ended;
  });

  it('disconnects a client that does not read its answer', async () => {
    const port = await opened();
    const slow = connectTo(port);
    const begun = once(slow, 'readable');
    slow.write(get(largest));
    await begun;
    const other = connectTo(port);
    trickle(other, put(body));
    await cutOff(other); // it had longer than an answer may take
    await cutOff(slow);
    expect(slow.bytesRead).toBeGreaterThan(0);
    expect(slow.bytesRead).toBeLessThan(large.length);
  });
});

describe('the admin port', () => {
  it('has 32 connections at most', async () => {
    const patient = { headersMs: 60_000, requestMs: 60_000, answerMs: 60_000, idleMs: 60_000 };
    const server = await startAdminServer({ host: here, port: 0, token: '', about: {}, routes, limits: patient });
    onTestFinished(() => server.close());
    async function ask() {
      const socket = connectTo(server.port);
      const answered = once(socket, 'data').then(() => 'answered');
      socket.write(get('/'));
      return Promise.race([answered, cutOff(socket).then(() => 'closed')]);
    }
    const all: string[] = [];
    for (let place = 0; place < 34; place += 1) all.push(await ask());
    expect(all).toEqual([...Array(32).fill('answered'), 'closed', 'closed']);
  });

  it('continues a slow answer beyond all limits', async () => {
    const server = await admin();
    onTestFinished(() => server.close());
    const follower = connectTo(server.port);
    follower.write(get('/stream'));
    await once(follower, 'data');
    await cutOff(connectTo(server.port)); // it had as long as headers may take
    const slow = connectTo(server.port);
    trickle(slow, put('PUT /level'));
    await cutOff(slow); // and this one as long as an answer
    streamed?.write('later');
    const [chunk] = await once(follower, 'data');
    expect(String(chunk)).toContain('later');
  });
});
