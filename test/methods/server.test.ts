import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { contract } from '../../src/methods/contract.ts';
import { Failure } from '../../src/methods/failure.ts';
import type { RequestHandler } from '../../src/methods/requestHandler.ts';
import { createServer } from '../../src/methods/server.ts';
import type { Reason } from '../../src/protocol/vocabulary.ts';
import { soon } from '../support/waiting.ts';
import { rawRequest } from './support/rawRequest.ts';

// The HTTP interface in front of a handler that does what the test says (M1, M8).

const handle = vi.fn<RequestHandler['handle']>();
const told = vi.fn<(fields: object, message: string) => void>();
let isStopping = false;
let server: ReturnType<typeof createServer>;
let url: string;
beforeEach(async () => {
  isStopping = false;
  vi.resetAllMocks();
  handle.mockResolvedValue({ status: 7 });
  const handler = { handle, isStopping: () => isStopping };
  server = createServer({ handler, log: { warn: told, error: told } as never });
  await server.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
});
afterEach(() => server.close());

const path = '/objects/o-1/models/svc.device/methods/stop';
const post = (body: unknown, to = path, headers: Record<string, string> = {}) =>
  fetch(url + to, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-correlation-id': 'c-1', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

describe('a request', () => {
  it.each(['', '/v1'])('under %j goes to the handler, and its result is the response', async (prefix) => {
    handle.mockImplementation(async (_, request) => {
      const text = Buffer.concat(await request.toArray()).toString(); // nobody has read it before
      return { status: 7, output: { text, is: request.headers['traceparent'] } };
    });
    const response = await post('{ "timeout": 5 }', prefix + path, { traceparent: 'of the caller' });
    const output = { text: '{ "timeout": 5 }', is: 'of the caller' };
    expect([response.status, await response.json()]).toEqual([200, { status: 7, output }]);
    expect(response.headers.get('x-correlation-id')).toBe('c-1');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('connection')).toBe('keep-alive');
    expect(response.headers.get('keep-alive')).toBe('timeout=72'); // longer than load balancers keep a connection
    const fields = { correlationId: 'c-1', objectId: 'o-1', model: 'svc.device', method: 'stop' };
    expect(handle.mock.calls.map(([given]) => given)).toEqual([fields]);
    expect(told).not.toHaveBeenCalled();
  });

  it('goes to the handler whatever its header says of its body', async () => {
    for (const type of ['text/plain', 'no type at all;', 'application/json; charset=utf-8'])
      expect((await post('x', path, { 'content-type': type })).status).toBe(200);
  });

  it.each<[Failure, status: number, authenticate: string | null, retryAfter: string | null]>([
    [new Failure('unauthorized', 'a token is required'), 401, 'Bearer', null],
    [new Failure('throttled', 'later', { retryAfter: 5 }), 429, null, '5'],
    [new Failure('forbidden', 'never'), 403, null, null],
  ])('that fails has the headers of its failure: %s', async (failure, status, authenticate, retryAfter) => {
    handle.mockRejectedValue(failure);
    const response = await post({});
    expect(response.status).toBe(status);
    const headers = ['www-authenticate', 'retry-after', 'x-correlation-id'].map((name) => response.headers.get(name));
    expect(headers).toEqual([authenticate, retryAfter, 'c-1']);
  });

  const raw = () => {
    const { port } = server.server.address() as AddressInfo;
    const lines = [`POST ${path} HTTP/1.1`, 'host: x', 'content-type: application/json', 'content-length: 2'];
    return { port, lines, again: `${lines.join('\r\n')}\r\n\r\n{}` };
  };

  it.each([
    ['what is no HTTP', '\0'],
    ['the wish for a tunnel', 'CONNECT hub:443 HTTP/1.1\r\nhost: hub:443\r\n\r\n'],
  ])('that is not answered yet is not answered with the refusal of what follows it: %s', async (_, follows) => {
    handle.mockReturnValue(new Promise(() => {}));
    const { port, lines } = raw();
    expect(await rawRequest(port, lines, `{}${follows}`).ended()).toBe('');
    expect(handle).toHaveBeenCalledOnce();
  });

  it.each([0, 2])('whose answer nobody takes loses its connection, with %i behind it', async (behind) => {
    await server.close();
    handle.mockResolvedValue({ status: 7, output: { text: 'x'.repeat(20_000_000) } });
    const handler = { handle, isStopping: () => isStopping };
    server = createServer({ handler, log: { warn: told, error: told } as never, takenWithinMs: 100 });
    await server.listen({ host: '127.0.0.1', port: 0 });
    const { port, lines, again } = raw();
    const accepted = once(server.server, 'connection');
    const { socket } = rawRequest(port, lines, `{}${again.repeat(behind)}`);
    socket.pause();
    const [connection] = await accepted;
    await once(connection, 'close');
    socket.destroy();
  });

  it('is the last one on its connection while the front door stops', async () => {
    isStopping = true;
    expect((await post({})).headers.get('connection')).toBe('close');
  });
});

it.each<[method: string, path: string, status: number, reason: Reason]>([
  ['GET', path, 404, 'route_not_found'],
  ['POST', '/objects', 404, 'route_not_found'],
  ['POST', '/objects/%ff/models/m/methods/x', 400, 'invalid_request'],
  ['POST', `/objects/${'o'.repeat(3_073)}/models/m/methods/x`, 400, 'invalid_request'],
])('%s %s is refused before the handler', async (method, to, status, reason) => {
  const response = await fetch(url + to, { method });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ errors: [{ code: String(status), meta: { reason } }] });
  expect(response.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(handle).not.toHaveBeenCalled();
});

it('a model identifier may have 256 characters, percent-encoded', async () => {
  const model = '𝕩'.repeat(256);
  expect((await post({}, `/objects/o-1/models/${encodeURIComponent(model)}/methods/stop`)).status).toBe(200);
  expect(handle.mock.calls).toMatchObject([[{ model }, {}, {}]]);
});

it('the contract is served, but only to GET', async () => {
  const get = await fetch(`${url}/openapi.json`);
  expect([get.status, await get.json()]).toEqual([200, contract]);
  expect((await fetch(`${url}/openapi.json`, { method: 'HEAD' })).status).toBe(404);
});

it('a request that has begun before a stop is handled', async () => {
  const connected = once(server.server, 'connection');
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n`);
  const [accepted] = await connected;
  await vi.waitFor(() => expect(accepted.bytesRead).toBeGreaterThan(0), soon);
  const closed = server.close();
  socket.write('content-type: application/json\r\ncontent-length: 2\r\n\r\n{}');
  expect((await socket.toArray()).join('')).toMatch(/^HTTP\/1\.1 200 .*"status":7/s);
  await closed;
});

it('a stop does not wait for connections without a request', async () => {
  const idle = rawRequest(Number(new URL(url).port), ['GET /openapi.json HTTP/1.1', 'host: x']);
  await idle.receives(/\}\}\}\}$/);
  const ended = once(idle.socket, 'close');
  await server.close();
  await ended;
});
