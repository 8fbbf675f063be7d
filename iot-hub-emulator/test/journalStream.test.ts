import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { createHttpServer } from '../src/http/httpServer.ts';
import { createJournal } from '../src/journal/journal.ts';
import { parseQuery } from '../src/journal/read.ts';
import { streamJournal } from '../src/journal/stream.ts';
import { soon } from './support/fixtures.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A server that streams a journal and nothing else, and how many watch the journal. */
async function streaming({ bytes = 1_000_000, heartbeatMs = 60_000 } = {}) {
  const kept = createJournal({ bytes });
  let watchers = 0;
  const watch: typeof kept.watch = (listener) => {
    watchers += 1;
    const unwatch = kept.watch(listener);
    return () => {
      watchers -= 1;
      unwatch();
    };
  };
  const journal = new Proxy(kept, { get: (target, name) => (name === 'watch' ? watch : Reflect.get(target, name)) });
  const closing = new AbortController();
  const responses: ServerResponse[] = [];
  const server: Server = createHttpServer({
    keepAliveMs: 1000,
    explain: () => 'reset',
    async serve(request, response) {
      responses.push(response);
      const { searchParams } = new URL(request.url ?? '', 'http://localhost');
      const query = parseQuery(searchParams, Error);
      streamJournal(journal, query, { request, response, closing: closing.signal, heartbeatMs });
      return 'written';
    },
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const add = (deviceId: string, reason = '') =>
    kept.add({ kind: 'disconnected', deviceId, protocol: 'mqtt', reason }).position;
  return { journal: kept, add, closing, responses, port, watchers: () => watchers };
}

/** A client that reads events as they come. */
async function reader(port: number, path: string, headers: Record<string, string> = {}) {
  const away = new AbortController();
  ends.push(() => away.abort());
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers, signal: away.signal });
  const seen = { text: '', isEnded: false };
  const reading = (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) seen.text += chunk;
    seen.isEnded = true;
  })();
  reading.catch(() => undefined);
  const ids = () => [...seen.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  return { response, seen, ids, away, reading };
}

test('a stream begins with the next entry, and each event has the position as its id', async () => {
  const { add, port } = await streaming();
  add('before');
  const { response, seen, ids } = await reader(port, '/');
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const position = add('a', 'line\nbreak');
  await vi.waitFor(() => expect(ids()).toEqual([position]), soon);
  const [, data = ''] = /^data: (.*)\n\n$/m.exec(seen.text) ?? [];
  const entry = { kind: 'disconnected', deviceId: 'a', protocol: 'mqtt', reason: 'line\nbreak' };
  expect(JSON.parse(data)).toEqual({ ...entry, position, time: expect.stringMatching(/Z$/) });
});

test('a stream begins after the requested position, so that a client that reconnects goes on', async () => {
  const { add, port } = await streaming();
  for (const device of ['a', 'b', 'c']) add(device);
  const first = await reader(port, '/?since=1');
  await vi.waitFor(() => expect(first.ids()).toEqual([2, 3]), soon);
  const again = await reader(port, '/?since=1', { 'last-event-id': '2' });
  add('d');
  await vi.waitFor(() => expect(again.ids()).toEqual([3, 4]), soon);
});

test('a stream can have the entries of one device, correlation id or kind only', async () => {
  const { journal, add, port } = await streaming();
  const ofDevice = await reader(port, '/?deviceId=b');
  const ofKind = await reader(port, '/?kind=receiver-closed');
  const ofMessage = await reader(port, '/?correlationId=c1');
  add('a');
  add('b');
  journal.add({ kind: 'receiver-closed', address: 'x', reason: 'y' });
  const times = { responseTimeoutInSeconds: 30, connectTimeoutInSeconds: 0 };
  const call = { deviceId: 'a', correlationId: 'c1', methodName: 'm', payload: '1' };
  journal.add({ kind: 'method', ...call, ...times });
  await vi.waitFor(() => expect([ofDevice.ids(), ofKind.ids(), ofMessage.ids()]).toEqual([[2], [3], [4]]), soon);
});

test('a client that asks for deleted entries gets a gap', async () => {
  const { journal, add, port } = await streaming({ bytes: 2000 });
  for (let i = 0; i < 20; i += 1) add('a');
  const { first } = journal;
  expect(first).toBeGreaterThan(2);
  const { seen, ids } = await reader(port, '/?since=1');
  await vi.waitFor(() => expect(ids().at(-1)).toBe(20), soon);
  expect(seen.text).toMatch(new RegExp(`^event: gap\ndata: {"after":1,"next":${first}}\n\nid: ${first}\n`));
});

test('a client with a position beyond the end of the journal gets a gap', async () => {
  const { add, port } = await streaming();
  add('a');
  const { seen, ids } = await reader(port, '/', { 'last-event-id': '99' });
  await vi.waitFor(() => expect(ids()).toEqual([1]), soon);
  expect(seen.text).toContain('event: gap\ndata: {"after":99,"next":1}');
});

test('a client that does not read costs little memory, and gets a gap when it reads on', async () => {
  const { add, port, responses } = await streaming({ bytes: 1_000_000 });
  const socket: Socket = connect(port, '127.0.0.1');
  ends.push(() => socket.destroy());
  socket.write('GET /?since=0 HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await vi.waitFor(() => expect(responses).toHaveLength(1), soon);
  let most = 0;
  for (let i = 0; i < 1500; i += 1) {
    add('a', 'x'.repeat(50_000));
    await turn();
    most = Math.max(most, responses[0]?.writableLength ?? 0);
  }
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(500_000);
  let isTold = false;
  let rest = '';
  for await (const chunk of socket) {
    rest = (rest + chunk).slice(-100_000);
    isTold ||= rest.includes('event: gap');
    if (isTold && rest.includes('id: 1500\n')) break;
  }
  expect(isTold).toBe(true);
});

test('a client that disconnects is removed from the watchers', async () => {
  const { port, watchers } = await streaming();
  const { away } = await reader(port, '/');
  expect(watchers()).toBe(1);
  away.abort();
  await vi.waitFor(() => expect(watchers()).toBe(0), soon);
});

test('a stream ends completely when the server stops', async () => {
  const { add, port, closing, watchers } = await streaming();
  const { reading, seen, ids } = await reader(port, '/');
  add('a');
  await vi.waitFor(() => expect(ids()).toHaveLength(1), soon);
  closing.abort();
  await reading;
  expect(seen.isEnded).toBe(true);
  await vi.waitFor(() => expect(watchers()).toBe(0), soon);
});

test('a stream without entries has heartbeats', async () => {
  const { port } = await streaming({ heartbeatMs: 5 });
  const { seen } = await reader(port, '/');
  await vi.waitFor(() => expect(seen.text).toContain(': heartbeat\n\n'), soon);
});
