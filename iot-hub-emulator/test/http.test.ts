import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import { readBody } from '../src/http/body.ts';
import { createHttpServer, type HttpHandler, isLocal } from '../src/http/httpServer.ts';
import { createRouter, splitUrl } from '../src/http/routes.ts';
import { portForTest, soon } from './support/fixtures.ts';

describe('routes', () => {
  const routes = [
    { method: 'GET', path: '/a/{id}' },
    { method: 'DELETE', path: '/a/{id}' },
    { method: 'GET', path: '/a/{id}/b/{name}' },
  ];
  const find = createRouter(routes);
  test.each([
    ['GET', '/a/1', routes[0], { id: '1' }],
    ['DELETE', '/a/a%2Fb', routes[1], { id: 'a/b' }],
    ['GET', '/a/../b/..', routes[2], { id: '..', name: '..' }],
    ['GET', '/a/%zz', routes[0], { id: '%zz' }],
  ])('include %s %s, with decoded names that are not split again', (method, path, route, params) =>
    expect(find(method, path)).toEqual({ route, params }),
  );
  test.each([
    ['GET', '/a/', []],
    ['GET', '/A/1', []],
    ['GET', '/a/1/b', []],
    ['PUT', '/a/1', ['GET', 'DELETE']],
  ])('do not include %s %s: the path has the methods %j', (method, path, allowed) =>
    expect(find(method, path)).toMatchObject({ route: undefined, allowed }),
  );
  test('match fixed segments in any case and keep the case of names', () => {
    const ignoring = createRouter(routes, { ignoreCase: true });
    expect(ignoring('GET', '/A/Xy')).toEqual({ route: routes[0], params: { id: 'Xy' } });
  });
  test('can refuse wrong percent-encoding', () => {
    const malformed = () => {
      throw new Error('malformed');
    };
    expect(() => createRouter(routes, { malformed })('GET', '/a/%zz')).toThrow('malformed');
  });
  test('cut a target at its first question mark', () => {
    expect(splitUrl('/a?b=?c')).toEqual({ path: '/a', query: 'b=?c' });
    expect(splitUrl('/a')).toEqual({ path: '/a', query: '' });
  });
});

describe('a server', () => {
  async function serving(serve: HttpHandler['serve']): Promise<string> {
    const explain = (error: unknown) => ({ status: 418, body: JSON.stringify(String(error)) });
    const server = createHttpServer({ keepAliveMs: 1000, serve, explain });
    return `http://127.0.0.1:${await portForTest(server)}`;
  }
  const bodyReader: HttpHandler['serve'] = async (message) => {
    const body = await readBody(message, 10, () => new Error('too large'));
    return { status: 200, body: JSON.stringify(body.toString()) };
  };

  test('answers JSON with its length, or an empty body', async () => {
    const url = await serving(async ({ method }) =>
      method === 'GET' ? { status: 200, body: '"é"' } : { status: 204 },
    );
    const answer = await fetch(url);
    const headers = { 'content-type': 'application/json', 'content-length': '4' };
    expect(Object.fromEntries(answer.headers)).toMatchObject(headers);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(204);
  });
  test('answers an error that is thrown', async () => {
    const url = await serving(() => Promise.reject(new Error('no')));
    const answer = await fetch(url);
    expect([answer.status, await answer.json()]).toEqual([418, 'Error: no']);
  });
  test('answers an error when the answer cannot be sent', async () => {
    const url = await serving(async () => ({ status: 200, headers: { 'x-a': 'line\nbreak' } }));
    expect((await fetch(url)).status).toBe(418);
  });
  test('reads bodies up to the limit', async () => {
    const url = await serving(bodyReader);
    expect(await (await fetch(url, { method: 'POST', body: '0123456789' })).json()).toBe('0123456789');
    expect(await (await fetch(url)).json()).toBe('');
  });
  test('answers a client whose body is far too large, which can read the answer', async () => {
    const url = await serving(bodyReader);
    for (let i = 0; i < 2; i += 1) {
      const answer = await fetch(url, { method: 'POST', body: Buffer.alloc(20_000_000) });
      expect([answer.status, await answer.json()]).toEqual([418, 'Error: too large']);
    }
  });
  test('sends no answer to a client that disconnected during its request', async () => {
    const outcome = vi.fn();
    const url = await serving((message) => {
      setImmediate(() => socket.destroy());
      const body = readBody(message, 10, () => new Error('too large'));
      body.catch(outcome);
      return body.then(() => 'silent');
    });
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\n12');
    await vi.waitFor(() => expect(outcome).toHaveBeenCalledWith(expect.objectContaining({ name: 'CallerGone' })), soon);
  });
  test.each([
    ['localhost', {}, true],
    ['localhost:80', {}, true],
    ['127.0.0.1:80', {}, true],
    ['[::1]:80', {}, true],
    ['localhost', { origin: 'http://localhost' }, false],
    ['evil.example', {}, false],
    ['localhost.evil.example', {}, false],
    ['127.0.0.1.evil.example:80', {}, false],
  ])('knows whether the host %s with the headers %j is local', async (host, headers, expected) => {
    const url = await serving(async (message) => ({ status: 200, body: JSON.stringify(isLocal(message)) }));
    const outgoing = request(url, { headers: { host, ...headers } }).end();
    const [answer] = await once(outgoing, 'response');
    expect(JSON.parse(await text(answer))).toBe(expected);
  });
});
