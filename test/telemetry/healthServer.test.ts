import { connect } from 'node:net';
import { type Listening, serveHealth } from '@device-messaging/telemetry/health.ts';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';

const anyPort = { host: '127.0.0.1', port: 0, settings: { host: 'A_HOST', port: 'A_PORT' } };
let server: Listening;
let missing: string[] = [];
let stuck: string[] = [];
let remarks = {};
beforeAll(async () => {
  server = await serveHealth(anyPort, {
    missing: () => missing,
    stuck: () => stuck,
    remarks: () => remarks,
    metrics: () => {
      throw new Error('unforeseen');
    },
  });
});
afterAll(() => server.close());

/** The status and the body of an answer, which must not be cached. */
const get = async (path: string, method = 'GET') => {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
  const { headers } = response;
  expect([headers.get('content-type'), headers.get('cache-control')]).toEqual(['application/json', 'no-store']);
  return [response.status, method === 'HEAD' ? undefined : await response.json()];
};

it('the server is live while it makes progress', async () => {
  expect(await get('/livez')).toEqual([200, { status: 'alive' }]);
  stuck = ['an answer of the hub'];
  expect(await get('/livez')).toEqual([503, { status: 'not alive', waitingFor: stuck }]);
});

it('the server is ready when nothing is missing, and otherwise names what is missing, each time with what else there is to say', async () => {
  for (const more of [{}, { refusedConfiguration: ['line 3: modules[0].id: is missing'] }]) {
    remarks = more;
    missing = ['the hub’s service endpoint'];
    expect(await get('/readyz?verbose')).toEqual([503, { status: 'not ready', waitingFor: missing, ...more }]);
    missing = [];
    expect(await get('/readyz')).toEqual([200, { status: 'ready', ...more }]);
  }
  expect((await get('/readyz', 'HEAD'))[0]).toBe(200);
});

it('the server is live while it responds when nothing can be stuck', async () => {
  const own = await serveHealth(anyPort, { missing: () => ['the broker'] });
  onTestFinished(() => own.close());
  expect((await fetch(`http://127.0.0.1:${own.port}/livez`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${own.port}/metrics`)).status).toBe(404);
});

it('the server answers 500 when the metrics cannot be read, and continues', async () => {
  expect(await get('/metrics')).toEqual([500, { error: 'the metrics cannot be read' }]);
  expect((await get('/startupz'))[0]).toBe(200);
});

it('the server has started once it was ready, whatever is missing later', async () => {
  stuck = [];
  missing = ['access'];
  const own = await serveHealth(anyPort, { missing: () => missing, stuck: () => stuck });
  onTestFinished(() => own.close());
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${own.port}${path}`);
    return [response.status, await response.json()];
  };
  for (let times = 0; times < 2; times += 1)
    expect(await ask('/startupz')).toEqual([503, { status: 'not started', waitingFor: ['access'] }]);
  missing = [];
  expect(await ask('/readyz')).toEqual([200, { status: 'ready' }]);
  missing = ['access'];
  expect(await ask('/readyz')).toEqual([503, { status: 'not ready', waitingFor: ['access'] }]);
  expect(await ask('/startupz')).toEqual([200, { status: 'started' }]);
});

it('the server refuses all other requests', async () => {
  expect(await get('/')).toEqual([404, { error: 'only /startupz, /livez, /readyz and /metrics exist' }]);
  expect(await get('/readyz', 'POST')).toEqual([405, { error: 'only GET and HEAD' }]);
});

it('the server tolerates a target that is not a path', async () => {
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () =>
      socket.write('GET // HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
    );
    socket.on('data', (data) => resolve(String(data)));
  });
  expect(answer).toMatch(/^HTTP\/1\.1 404/);
});
