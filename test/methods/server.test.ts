import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { contract } from '../../src/methods/contract.ts';
import { Failure } from '../../src/methods/failure.ts';
import type { RequestHandler } from '../../src/methods/requestHandler.ts';
import { createServer, rejectMalformedRequest } from '../../src/methods/server.ts';
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
  url = `http://127.0.0.1:${portOf()}`;
});
afterEach(() => server.close());
const portOf = () => (server.server.address() as AddressInfo).port;

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

  it.each([
    ['with a space', 'shift 7'],
    ['of 129 characters', 'x'.repeat(129)],
    ['with other characters than ASCII', 'schicht-\u00e4'],
  ])('gets a new correlation id instead of one %s', async (_, sent) => {
    const { headers } = await post({}, path, { 'x-correlation-id': sent });
    const correlationId = headers.get('x-correlation-id');
    expect(correlationId).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect(handle.mock.calls).toMatchObject([[{ correlationId }, {}, {}]]);
  });

  const lines = [`POST ${path} HTTP/1.1`, 'host: x', 'content-type: application/json', 'content-length: 2'];

  it('is asked for its body by the handler, and by nobody else', async () => {
    handle.mockImplementation(async (_, request, response) => {
      response.writeContinue();
      return { status: 7, output: { text: Buffer.concat(await request.toArray()).toString() } };
    });
    const asked = rawRequest(portOf(), [...lines, 'expect: 100-continue']);
    await asked.receives(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    asked.socket.write('{}');
    expect(await asked.receives(/"text":"\{\}"\}\}$/)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    asked.socket.destroy();
  });

  it.each([
    ['what is no HTTP', '\0'],
    ['the wish for a tunnel', 'CONNECT hub:443 HTTP/1.1\r\nhost: hub:443\r\n\r\n'],
  ])('that is not answered yet is not answered with the refusal of what follows it: %s', async (_, follows) => {
    handle.mockReturnValue(new Promise(() => {}));
    expect(await rawRequest(portOf(), lines, `{}${follows}`).ended()).toBe('');
    expect(handle).toHaveBeenCalledOnce();
  });

  it.each([0, 2])('whose answer nobody takes loses its connection, with %i behind it', async (behind) => {
    await server.close();
    handle.mockResolvedValue({ status: 7, output: { text: 'x'.repeat(20_000_000) } });
    const handler = { handle, isStopping: () => isStopping };
    server = createServer({ handler, log: { warn: told, error: told } as never, takenWithinMs: 100 });
    await server.listen({ host: '127.0.0.1', port: 0 });
    const again = `${lines.join('\r\n')}\r\n\r\n{}`;
    const accepted = once(server.server, 'connection');
    const { socket } = rawRequest(portOf(), lines, `{}${again.repeat(behind)}`);
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
  const socket = connect(portOf(), '127.0.0.1').setEncoding('utf8');
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n`);
  const [accepted] = await connected;
  await vi.waitFor(() => expect(accepted.bytesRead).toBeGreaterThan(0), soon);
  const closed = server.close();
  socket.write('content-type: application/json\r\ncontent-length: 2\r\n\r\n{}');
  expect((await socket.toArray()).join('')).toMatch(/^HTTP\/1\.1 200 .*"status":7/s);
  await closed;
});

it('a stop does not wait for connections without a request', async () => {
  const idle = rawRequest(portOf(), ['GET /openapi.json HTTP/1.1', 'host: x']);
  await idle.receives(/\}\}\}\}$/);
  const ended = once(idle.socket, 'close');
  await server.close();
  await ended;
});

// It is answered with the body of errors, too, where HTTP allows an answer (M8, D43).

/** The answer to what is written, as far as it is one. */
async function answerTo(lines: readonly string[], body = '') {
  const request = rawRequest(portOf(), lines, body);
  const text = await request.receives(/\}\]\}$/);
  request.socket.destroy();
  const [head = '', json = ''] = text.split('\r\n\r\n');
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1];
  const [error] = JSON.parse(json).errors;
  expect(header('content-type')).toMatch(/^application\/json/);
  expect(header('x-correlation-id')).toBe(error.id);
  expect(error.detail).toMatch(/^\p{L}.{10,}$/u);
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), code: Number(error.code), reason: error.meta.reason };
}

describe('a request that breaks the rules of HTTP', () => {
  it.each([
    ['that is none', ['hello'], 400],
    ['without a version', ['GET /openapi.json'], 400],
    ['with a version that does not exist', ['GET /openapi.json HTTP/9.9', 'host: x'], 400],
    ['with a method that does not exist', ['FETCH /openapi.json HTTP/1.1', 'host: x'], 400],
    ['with a space in its path', ['GET /open api.json HTTP/1.1', 'host: x'], 400],
    ['of HTTP/2', ['PRI * HTTP/2.0', '', 'SM'], 400],
    ['without Host', ['GET /openapi.json HTTP/1.1'], 400],
    ['with a line that is no header', ['GET /openapi.json HTTP/1.1', 'host: x', 'no colon'], 400],
    ['with two lengths', ['POST /objects HTTP/1.1', 'host: x', 'content-length: 1', 'content-length: 2'], 400],
    ['with a length that is none', ['POST /objects HTTP/1.1', 'host: x', 'content-length: two'], 400],
    ['with a header of 20 KB', ['GET /openapi.json HTTP/1.1', 'host: x', `x: ${'x'.repeat(20_000)}`], 400],
    ['for a tunnel', ['CONNECT hub:443 HTTP/1.1', 'host: hub:443'], 404],
    ['for everything', ['OPTIONS * HTTP/1.1', 'host: x'], 404],
    ['with an unknown expectation', ['GET /openapi.json HTTP/1.1', 'host: x', 'expect: x'], 417],
  ])('%s has an answer with the body of errors', async (_, lines, status) => {
    const answer = await answerTo(lines);
    expect([answer.status, answer.code]).toEqual([status, status]);
  });

  it('needs no Host in HTTP/1.0', async () => {
    expect(await rawRequest(portOf(), ['GET /openapi.json HTTP/1.0']).ended()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('whose body is not what its header says has one, too', async () => {
    handle.mockImplementation(async (_, request) => ({ status: (await request.toArray()).length }));
    const lines = [`POST ${path} HTTP/1.1`, 'host: x', 'transfer-encoding: chunked'];
    expect(await answerTo(lines, 'no chunk\r\n')).toMatchObject({ status: 400, reason: 'invalid_request' });
  });
});

it.each([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'HTTP/1.1 408 Request Timeout', 'request_timeout', /was not complete in time$/],
  ['HPE_HEADER_OVERFLOW', 'HTTP/1.1 400 Bad Request', 'invalid_request', /header of the request is too large$/],
  ['HPE_INVALID_METHOD', 'HTTP/1.1 400 Bad Request', 'invalid_request', /this is not an HTTP request$/],
])('the answer to %s says what is wrong, and is the last one on its connection', async (code, status, reason, why) => {
  const socket = new PassThrough();
  rejectMalformedRequest(Object.assign(new Error(), { code }), socket);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  const [error] = JSON.parse(body).errors;
  expect(error).toMatchObject({ detail: expect.stringMatching(why), meta: { reason } });
  expect(head.split('\r\n')).toEqual([
    ...[status, 'content-type: application/json; charset=utf-8'],
    ...[`content-length: ${Buffer.byteLength(body)}`, `x-correlation-id: ${error.id}`, 'connection: close'],
  ]);
});

it.each([
  ['cannot be written any more', new PassThrough().end(), ''],
  ['was reset', new PassThrough(), 'ECONNRESET'],
])('a connection that %s is closed without an answer', (_, socket, code) => {
  rejectMalformedRequest(Object.assign(new Error('of another kind'), { code }), socket);
  expect([socket.destroyed, socket.read()]).toEqual([true, null]);
});

it('a connection whose client goes before the answer is closed', () => {
  const socket = new PassThrough();
  rejectMalformedRequest(new Error('of another kind'), socket);
  socket.emit('error', new Error('EPIPE'));
  expect(socket.destroyed).toBe(true);
});
