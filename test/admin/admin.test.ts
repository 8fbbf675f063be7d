import { type IncomingHttpHeaders, request, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Secret } from '../../src/access/secretFiles.ts';
import { BadRequest, openAdmin, startAdminServer } from '../../src/admin/adminServer.ts';
import { createLog, createTroubles } from '../../src/observing/log.ts';
import { bearerToken, settings } from '../support/environment.ts';
import { rotatingSecret } from '../support/secretVolume.ts';

const token = 'the-token-of-the-operators';

type Answered = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

/** A request with these headers exactly: `fetch` sets some by itself. */
const ask = (port: number, path: string, headers: Record<string, string> = {}, method = 'GET', body = '') =>
  new Promise<Answered>((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers }, async (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      resolve({ status, headers: answered, body: await text(response) });
    });
    asked.on('error', reject);
    asked.end(body);
  });

/** The status of a request whose body comes in parts of so many bytes. */
const putInParts = (port: number, path: string, parts: readonly number[]) =>
  new Promise<number | undefined>((resolve) => {
    const headers = { 'content-type': 'application/json' };
    const asked = request({ host: '127.0.0.1', port, path, method: 'PUT', headers }, (response) => {
      resolve(response.statusCode);
      response.resume();
      asked.destroy();
    });
    asked.on('error', () => {});
    for (const bytes of parts) asked.write(' '.repeat(bytes));
  });

async function serverWith(own: Secret) {
  const routes = {
    '/state': { about: 'what it does', get: (query: URLSearchParams) => Object.fromEntries(query) },
    '/both': { about: 'what can be changed', get: () => 'seen', put: (body: unknown) => ({ put: body }) },
    '/later': {
      about: 'what takes a while, and cannot be told of everything',
      async get(query: URLSearchParams) {
        await new Promise(setImmediate);
        if (query.has('unknown')) throw new BadRequest('there is no such thing', 404);
        return { found: 1 };
      },
    },
    '/put': { about: 'what can only be put', put: () => 'done' },
    '/defect': {
      about: 'what fails',
      get() {
        throw new Error('a text for the programmer');
      },
    },
    '/stream': {
      about: 'what goes on until it fails',
      stream(_: unknown, response: ServerResponse) {
        response.writeHead(200);
        response.write('first');
        throw new Error('a text for the programmer');
      },
    },
  };
  const server = await startAdminServer({ host: '127.0.0.1', port: 0, token: own, about: { program: 'test' }, routes });
  onTestFinished(() => server.close());
  return server.port;
}

/** The admin port as both programs open it. */
async function opened() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const admin = await openAdmin(settings, log, { program: 'service' }, {});
  log.level = 'warn';
  onTestFinished(() => admin.close());
  return { port: Number(lines.find(({ adminPort }) => adminPort)?.['adminPort']), lines, log };
}

const sites = ['cross-site', 'same-site'].map((site) => ({ 'sec-fetch-site': site }));

const json = { 'content-type': 'application/json' };
const mustBeJson = /^the body must be JSON, with content-type application\/json$/;

describe('the admin port', () => {
  it('answers with what a route finds out later, or with why it finds nothing', async () => {
    const port = await serverWith('');
    const found = await ask(port, '/later');
    expect([found.status, JSON.parse(found.body)]).toEqual([200, { found: 1 }]);
    const missing = await ask(port, '/later?unknown=1');
    expect([missing.status, JSON.parse(missing.body)]).toEqual([404, { error: 'there is no such thing' }]);
  });

  it('refuses a body that is too large in all, however small its parts', async () => {
    const port = await serverWith('');
    expect(await putInParts(port, '/put', [600, 600])).toBe(413);
  });

  it('lists its routes, and answers with JSON that must not be cached', async () => {
    const port = await serverWith('');
    const { status, headers, body } = await ask(port, '/');
    const paths = {
      'GET /state': 'what it does',
      'GET|PUT /both': 'what can be changed',
      'PUT /put': 'what can only be put',
      'GET /defect': 'what fails',
      'GET /later': 'what takes a while, and cannot be told of everything',
      'GET /stream': 'what goes on until it fails',
    };
    expect([status, JSON.parse(body)]).toEqual([200, { program: 'test', paths }]);
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
    expect(JSON.parse((await ask(port, '/state?q=1')).body)).toEqual({ q: '1' });
    expect(JSON.parse((await ask(port, '/state')).body)).toEqual({});
  });

  it.each([
    ['GET', '/other', 404],
    ['GET', '/constructor', 404],
    ['GET', '/page', 404],
    ['PUT', '/state', 405],
    ['POST', '/both', 405],
    ['GET', '/put', 405],
    ['PUT', '/stream', 405],
  ])('refuses %s %s with %i', async (method, path, status) => {
    const answered = await ask(await serverWith(''), path, json, method, method === 'GET' ? '' : '{}');
    const error = status === 404 ? 'there is no such path: GET / lists all' : `${path} has no ${method}`;
    expect([answered.status, JSON.parse(answered.body)]).toEqual([status, { error }]);
  });

  it('tells a caller nothing of a defect, and cuts off an answer that has begun', async () => {
    const port = await serverWith('');
    const { status, body } = await ask(port, '/defect');
    expect([status, JSON.parse(body)]).toEqual([500, { error: 'this cannot be answered at the moment' }]);
    await expect(fetch(`http://127.0.0.1:${port}/stream`).then((response) => response.text())).rejects.toThrow();
  });

  it('is not disturbed by an answer to a caller that has gone', async () => {
    let follower: ServerResponse | undefined;
    const stream = (_: unknown, response: ServerResponse) => {
      follower = response.writeHead(200);
      response.write('first');
    };
    const routes = { '/follow': { about: 'what goes on', stream } };
    const server = await startAdminServer({ host: '127.0.0.1', port: 0, token: '', about: {}, routes });
    onTestFinished(() => server.close());
    const caller = new AbortController();
    await fetch(`http://127.0.0.1:${server.port}/follow`, { signal: caller.signal });
    const gone = new Promise((resolve) => follower?.once('close', resolve));
    caller.abort();
    await gone;
    expect(() => follower?.emit('error', new Error('write after the end'))).not.toThrow();
  });

  it('takes a body of 1 KiB', async () => {
    const port = await serverWith('');
    const body = `{"a":1${' '.repeat(1_017)}}`;
    const { status, body: answered } = await ask(port, '/both', json, 'PUT', body);
    expect([body.length, status, JSON.parse(answered)]).toEqual([1_024, 200, { put: { a: 1 } }]);
  });

  it.each([
    ['a web page', { origin: 'https://evil.example' }],
    ['a web page of this machine', { origin: 'http://localhost:3000' }],
    ['an image in a web page', { 'sec-fetch-site': 'cross-site' }],
    ['an image in a page of the same site', { 'sec-fetch-site': 'same-site' }],
    ['a host name that leads here (DNS rebinding)', { host: 'evil.example' }],
    ['such a host name with a port', { host: 'evil.example:8082' }],
    ['a host name that begins like this machine', { host: '127.0.0.1.evil.example' }],
    ['a host name that ends like this machine', { host: 'evil.127.0.0.1' }],
  ])('refuses %s', async (_, headers) => {
    const port = await serverWith('');
    const { status, headers: answered } = await ask(port, '/state', headers);
    expect([status, answered['www-authenticate']]).toEqual([403, undefined]);
  });

  it.each(['localhost:8082', '127.0.0.1', '[::1]:8082', '127.0.0.2:1', '127.100.20.3'])('answers to %s', async (host) =>
    expect((await ask(await serverWith(''), '/state', { host })).status).toBe(200),
  );
  it('answers a request typed into a browser', async () => {
    const port = await serverWith('');
    expect((await ask(port, '/state', { 'sec-fetch-site': 'none' })).status).toBe(200);
  });

  it('with a token answers only requests that have it, by any host name, and still no web page', async () => {
    const port = await serverWith(token);
    const host = 'pod-1.example:8082';
    for (const sent of ['', 'Bearer ', `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`, token]) {
      const refused = await ask(port, '/state', sent === '' ? { host } : { host, authorization: sent });
      expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer']);
      expect(refused.body).not.toContain(token);
    }
    const authorization = `Bearer ${token}`;
    expect((await ask(port, '/state', { host, authorization })).status).toBe(200);
    for (const page of [{ origin: 'https://evil.example' }, ...sites])
      expect((await ask(port, '/state', { host, authorization, ...page })).status).toBe(403);
  });

  it('with a token in a file accepts the present one without a look at the file, and the next one instead of it', async () => {
    const { secret } = rotatingSecret(token, 'the-next-token-of-the-operators');
    const port = await serverWith(secret);
    const askWith = async (own: string) => {
      const { status } = await ask(port, '/state', { authorization: `Bearer ${own}` });
      return [status, secret.renew.mock.calls.length];
    };
    expect(await askWith(token)).toEqual([200, 0]);
    expect(await askWith('the-next-token-of-the-operators')).toEqual([200, 1]);
    expect((await askWith(token))[0]).toBe(401);
  });

  it('serves the page without the token, since it tells nothing, but to no foreign page; and nothing else', async () => {
    const page = async (name: string) =>
      name === '' ? { headers: { 'content-type': 'text/html' }, body: Buffer.from('<!doctype html>') } : undefined;
    const options = { host: '127.0.0.1', port: 0, about: {}, routes: {}, page };
    for (const own of ['', token]) {
      const server = await startAdminServer({ ...options, token: own });
      onTestFinished(() => server.close());
      expect(await ask(server.port, '/page/')).toMatchObject({ status: 200, body: '<!doctype html>' });
      expect(await ask(server.port, '/page')).toMatchObject({ status: 308, headers: { location: '/page/' } });
      expect((await ask(server.port, '/page/other')).status).toBe(404);
      expect((await ask(server.port, '/page/', {}, 'PUT')).status).toBe(own === '' ? 404 : 401);
      expect(JSON.parse((await ask(server.port, '/', { authorization: `Bearer ${token}` })).body)).toEqual({
        ...{ paths: {}, page: '/page/' },
      });
      for (const foreign of [{ origin: 'https://evil.example' }, ...sites])
        for (const path of ['/page', '/page/']) expect((await ask(server.port, path, foreign)).status).toBe(403);
      if (own === '') expect((await ask(server.port, '/page/', { host: 'evil.example' })).status).toBe(403);
      else expect((await ask(server.port, '/')).status).toBe(401);
    }
  });

  it('lists what both programs have, and the log says where', async () => {
    const { port, lines } = await opened();
    expect(lines).toMatchObject([{ event: 'admin.served', adminHost: '127.0.0.1', adminPort: port }]);
    const some = expect.stringMatching(/\w/);
    expect(JSON.parse((await ask(port, '/')).body)).toMatchObject({
      program: 'service',
      paths: { 'GET /settings': some, 'GET /troubles': some, 'GET|PUT /level': some },
    });
  });

  it('shows the settings without their secrets', async () => {
    const { port } = await opened();
    const { body } = await ask(port, '/settings');
    expect(JSON.parse(body)).toMatchObject({ admin: { host: '127.0.0.1', token: '' }, backends: { token: '[set]' } });
    expect(body).not.toContain(bearerToken);
  });

  it('shows what is wrong at the moment without the secrets of the settings', async () => {
    const { port, log } = await opened();
    const troubles = createTroubles(log);
    onTestFinished(() => troubles.close());
    const fields = { said: `no access with ${bearerToken}` };
    troubles.raise('hub', { level: 'warn', message: 'the hub cannot be read', fields });
    expect(JSON.parse((await ask(port, '/troubles')).body)).toMatchObject({
      troubles: [{ event: 'hub.unreadable', fields: { said: 'no access with …' } }],
    });
  });

  it('changes the level of the log, which is logged at any level', async () => {
    const { port, lines, log } = await opened();
    expect(JSON.parse((await ask(port, '/level')).body)).toEqual({ level: 'warn', atStart: 'info' });
    for (const level of ['error', 'debug']) {
      const changed = await ask(port, '/level', json, 'PUT', JSON.stringify({ level }));
      expect([changed.status, JSON.parse(changed.body), log.level]).toEqual([200, { level }, level]);
      expect(lines.at(-1)).toMatchObject({ event: 'log.level_changed', logLevel: level });
    }
  });

  it.each([
    ['a level that does not exist', json, '{"level":"loud"}', 400, /invalid option/i],
    ['more than a level', json, '{"level":"info","for":1}', 400, /for/],
    ['no JSON', json, 'debug', 400, /^the body is not JSON$/],
    ['a form, which a web page can send', { 'content-type': 'text/plain' }, '{"level":"debug"}', 415, mustBeJson],
    [
      'a form that speaks of JSON',
      { 'content-type': 'text/plain; application/json' },
      '{"level":"debug"}',
      415,
      mustBeJson,
    ],
    ['a large body', json, `{"level":"debug"${' '.repeat(500_000)}}`, 413, /^the body is too large$/],
  ])('refuses %s as the level', async (_, headers, body, status, error) => {
    const { port, log } = await opened();
    const answered = await ask(port, '/level', headers, 'PUT', body);
    expect([answered.status, log.level]).toEqual([status, 'warn']);
    expect(JSON.parse(answered.body)).toEqual({ error: expect.stringMatching(error) });
  });

  it('is absent when its port is in use, and the program continues', async () => {
    const port = await serverWith('');
    const lines: Record<string, unknown>[] = [];
    const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
    const admin = await openAdmin({ ...settings, admin: { ...settings.admin, port } }, log, {}, {});
    await admin.close();
    expect(lines).toMatchObject([
      { level: 'warn', event: 'admin.not_served', adminPort: port, err: { code: 'EADDRINUSE' } },
    ]);
    expect(lines[0]?.['err']).toMatchObject({
      message: expect.stringMatching(`^ADMIN_PORT: port ${port} is in use by`),
    });
  });
});
