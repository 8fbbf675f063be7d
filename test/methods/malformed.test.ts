import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { rejectMalformedRequest } from '../../src/methods/server.ts';
import { rawRequest } from './support/rawRequest.ts';
import { conveyor, startTestFrontDoor } from './support/testFrontDoor.ts';

// A request that breaks the rules of HTTP is answered with the body of errors, too, where HTTP allows an answer (M8, D43).

const setup = startForAll(startTestFrontDoor);

/** The answer to what is written, as far as it is one. */
async function answerTo(lines: readonly string[], body = '') {
  const request = rawRequest(setup.instance.port, lines, body);
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

describe('a request', () => {
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
    expect(await rawRequest(setup.instance.port, ['GET /openapi.json HTTP/1.0']).ended()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('whose body is not what its header says has one, too', async () => {
    const lines = [
      `POST ${setup.pathOf(conveyor, 'stop')} HTTP/1.1`,
      'host: x',
      `authorization: Bearer ${setup.tokens.invoker}`,
      'content-type: application/json',
      'transfer-encoding: chunked',
    ];
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

it('a connection that cannot be written any more is closed without an answer', () => {
  const socket = new PassThrough().end();
  rejectMalformedRequest(new Error('of another kind'), socket);
  expect([socket.destroyed, socket.read()]).toEqual([true, null]);
});

it('a connection whose client goes before the answer is closed', () => {
  const socket = new PassThrough();
  rejectMalformedRequest(new Error('of another kind'), socket);
  socket.emit('error', new Error('EPIPE'));
  expect(socket.destroyed).toBe(true);
});

it('a connection that was reset is closed without an answer', () => {
  const socket = new PassThrough();
  rejectMalformedRequest(Object.assign(new Error(), { code: 'ECONNRESET' }), socket);
  expect([socket.destroyed, socket.read()]).toEqual([true, null]);
});
