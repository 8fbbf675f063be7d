import { EventEmitter } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startAdminServer } from '../../src/admin/adminServer.ts';
import { tapRoute } from '../../src/admin/tapRoute.ts';
import { createTaps } from '../../src/observing/taps.ts';

async function setUp() {
  const taps = createTaps();
  const routes = { '/tap': tapRoute(taps, [], () => ({ instance: 'one', held: undefined })) };
  const server = await startAdminServer({ host: '127.0.0.1', port: 0, token: '', about: {}, routes });
  onTestFinished(() => server.close());
  /** Resolves when the answer begins; nothing of it is read yet. */
  const follow = (query: string) =>
    new Promise<IncomingMessage>((resolve) => {
      get({ host: '127.0.0.1', port: server.port, path: `/tap?${query}` }, resolve).on('error', () => {});
    });
  return { taps, follow };
}

const linesIn = (body: string) =>
  body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/**
 * Taps of which the test moves the time, and says how much waits in their connections.
 * @param queries one for each
 */
function tapsByHand(queries: readonly string[], lengthAfterWrite = 0, held?: object) {
  vi.useFakeTimers();
  const taps = createTaps();
  const route = tapRoute(taps, [], () => ({ instance: 'one', held }));
  const followers = queries.map((query) => {
    const seen = { heads: [] as unknown[], text: '', isDestroyed: false };
    const response = Object.assign(new EventEmitter(), {
      writableLength: 0,
      writeHead: (...head: unknown[]) => void seen.heads.push(head),
      write(line: string) {
        seen.text += line;
        response.writableLength = lengthAfterWrite;
      },
      end: (line: string) => response.write(line),
      destroy() {
        seen.isDestroyed = true;
      },
    });
    route.stream?.(new URLSearchParams(query), response as never);
    return { response, seen, lines: () => linesIn(seen.text) };
  });
  return { taps, followers };
}

/** One of them. */
function tapByHand(lengthAfterWrite?: number, query = 'device=d1&seconds=1', held?: object) {
  const { taps, followers } = tapsByHand([query], lengthAfterWrite, held);
  const read = (...numbers: readonly number[]) => {
    for (const sequenceNumber of numbers) taps.of('d1', { partition: '0', sequenceNumber })?.('read', {});
  };
  return { taps, read, ...(followers[0] as (typeof followers)[number]) };
}

it('A tap begins with a line about itself, has each event on a line, and ends when its time is over', () => {
  const { taps, lines } = tapByHand();
  taps.of('d1', { partition: '0', sequenceNumber: 7 })?.('read', { bytes: 2 }, { body: '{"a":1}' });
  vi.advanceTimersByTime(999);
  expect(lines()).toHaveLength(2);
  vi.advanceTimersByTime(1);
  expect(lines()).toMatchObject([
    { stage: 'following', device: 'd1', seconds: 1, instance: 'one' },
    { stage: 'read', partition: '0', sequenceNumber: 7, bytes: 2 },
    { stage: 'ended', why: 'the time is over', events: 1 },
  ]);
  expect(taps.of('d1', { partition: '0', sequenceNumber: 8 })).toBeUndefined();
});

it('A tap that has seen nothing of its device but gaps explains what that can mean', () => {
  const { taps, lines } = tapByHand();
  taps.all({ partition: '0', sequenceNumber: 7 })?.('gap', { missing: 2 });
  vi.advanceTimersByTime(1_000);
  expect(lines().slice(1)).toMatchObject([
    { stage: 'gap', missing: 2 },
    { stage: 'ended', events: 0, hint: expect.stringContaining('another instance') },
  ]);
});

it('A tap that sees nothing move of a device with work tells of that work, and not that nothing came', () => {
  const held = { messages: 2, waits: 'the information model is out' };
  const { lines } = tapByHand(0, 'device=d1&seconds=1', held);
  vi.advanceTimersByTime(1_000);
  expect(lines()).toMatchObject([
    { stage: 'following', held },
    { stage: 'ended', events: 0, held, hint: expect.stringContaining('/devices') },
  ]);
});

it('Only a tap that asks for bodies has them, also while others follow the device without them', () => {
  const { taps, followers } = tapsByHand(['&bodies=true', '&bodies=false', ''].map((more) => `device=d1${more}`));
  const bodies = { body: '{"a":1}', request: '{"b":2}', response: Buffer.from('{"c":3}') };
  taps.of('d1', { partition: '0', sequenceNumber: 7 })?.('decoded', { characters: 7 }, bodies);
  const told = {
    ...{ device: 'd1', partition: '0', sequenceNumber: 7, time: expect.any(String), stage: 'decoded' },
    characters: 7,
  };
  const expected = [{ ...told, body: '{"a":1}', request: '{"b":2}', response: '{"c":3}' }, told, told];
  expect(followers.map(({ lines }) => lines()[1])).toEqual(expected);
});

it('A tap hides the token of a call when a backend repeats it', () => {
  const { taps, lines } = tapByHand(0, 'device=d1&bodies=true');
  const echo = Buffer.from('Bearer a-token-of-the-call').toString('base64');
  taps.of('d1', { partition: '0', sequenceNumber: 7 })?.(
    'attempt',
    {},
    { response: `{"echo":"${echo}"}` },
    'a-token-of-the-call',
  );
  const [, attempt] = lines();
  expect(attempt).toMatchObject({ stage: 'attempt', response: expect.stringMatching(/…/) });
  expect(JSON.stringify(attempt)).not.toContain(echo.slice(12, 24));
});

it('A slow reader delays nothing: excess lines are dropped, counted and reported', async () => {
  const { taps, follow } = await setUp();
  const response = await follow('device=d1&seconds=2');
  const count = 20_000;
  for (let number = 0; number < count; number += 1)
    taps.of('d1', { partition: '0', sequenceNumber: number })?.('read', { text: 'x'.repeat(1_000) });
  const lines = linesIn(await text(response));
  const read = lines.filter(({ stage }) => stage === 'read').length;
  const dropped = lines.filter(({ stage }) => stage === 'dropped').map(({ events }) => events);
  expect(dropped.length).toBeGreaterThan(0);
  expect(read + dropped.reduce((sum, one) => sum + one, 0)).toBe(count);
  expect(read).toBeLessThan(count);
});

const full = 256 * 1024;

it('A reader that is too slow learns at the end how much was dropped, and is then given five seconds', () => {
  const { seen, read, lines } = tapByHand(full + 1);
  expect(seen.heads).toEqual([[200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' }]]);
  read(1, 2, 3);
  vi.advanceTimersByTime(1_000);
  const expected = [{ stage: 'following' }, { stage: 'dropped', events: 3 }, { stage: 'ended', events: 3 }];
  expect(lines()).toMatchObject(expected);
  vi.advanceTimersByTime(4_999);
  expect(seen.isDestroyed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(seen.isDestroyed).toBe(true);
});

it('A reader learns how much was dropped as soon as there is room, and has all that comes later', () => {
  const { response, read, lines } = tapByHand(full + 1);
  read(1, 2);
  response.emit('drain');
  response.writableLength = full;
  response.emit('drain');
  response.writableLength = full;
  read(3);
  read(4);
  response.writableLength = 0;
  read(5);
  expect(lines().map(({ stage, events, sequenceNumber }) => [stage, events ?? sequenceNumber])).toEqual([
    ['following', undefined],
    ['dropped', 2],
    ['read', 3],
    ['dropped', 1],
  ]);
});

it('A reader for whom nothing was dropped is told of nothing else', () => {
  const { response, read, lines } = tapByHand(full);
  read(1);
  response.emit('drain');
  vi.advanceTimersByTime(1_000);
  expect(lines().map(({ stage }) => stage)).toEqual(['following', 'read', 'ended']);
  expect(lines().at(-1)).not.toHaveProperty('hint');
});

it('A tap whose connection ends before its time leaves no timer', () => {
  const { taps, followers } = tapsByHand(['device=d1&seconds=3600']);
  expect(vi.getTimerCount()).toBe(1);
  followers[0]?.response.emit('close');
  expect([vi.getTimerCount(), taps.of('d1', { partition: '0', sequenceNumber: 1 })]).toEqual([0, undefined]);
});

it.each([
  ['no device', '', 400],
  ['an unknown option', 'device=d1&body=true', 400],
  ['a day', 'device=d1&seconds=86400', 400],
  ['no time', 'device=d1&seconds=0', 400],
  ['half a second', 'device=d1&seconds=0.5', 400],
  ['an empty name', 'device=', 400],
  ['a name that no device has', `device=${'d'.repeat(129)}`, 400],
  ['bodies by another word', 'device=d1&bodies=yes', 400],
])('A tap of %s is refused', async (_, query, status) => {
  const { follow } = await setUp();
  const response = await follow(query);
  expect([response.statusCode, JSON.parse(await text(response))]).toEqual([status, { error: expect.any(String) }]);
});

it('A fifth tap is refused', async () => {
  const { follow } = await setUp();
  for (let number = 0; number < 4; number += 1) expect((await follow(`device=d${number}`)).statusCode).toBe(200);
  expect((await follow('device=d5')).statusCode).toBe(429);
});
