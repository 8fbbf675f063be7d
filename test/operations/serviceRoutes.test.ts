import { expect, it, vi } from 'vitest';
import type { DeviceWork } from '../../src/engine/partition.ts';
import type { PartitionState } from '../../src/hub/reading/hubWatch.ts';
import { serviceRoutes } from '../../src/operations/serviceRoutes.ts';
import { withFakeTimers } from '../support/waiting.ts';

// Each field that the admin port shows has a value of its own: two that are swapped show.

withFakeTimers();

const now = new Date('2026-01-02T03:04:00.000Z');
/** So many seconds ago, as the service keeps it, and as it is shown. */
const ago = (seconds: number) => performance.now() - seconds * 1000;
const shownAgo = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString();

const stuck: DeviceWork & { readonly partition: string } = {
  ...{ device: 'stuck', partition: '3', messages: 4, sequenceNumber: 55, state: 'in flight', needs: [] },
  ...{ readAt: 0, begunAt: 0, steps: [] },
};

interface Changes {
  readonly work?: Partial<typeof stuck>;
  /** Whether the token endpoint is out, or there is none. */
  readonly tokens?: 'open' | 'closed' | 'none';
}

/** @param changes of what is stuck, instead of all that there is */
function routes({ work, tokens = 'open' }: Changes = {}) {
  vi.setSystemTime(now);
  const letter = { kind: 'parking', what: 'internal_platform_error' } as const;
  const steps = [
    { kind: 'call', what: 'read references', of: 'information model', since: ago(21), waitsFor: 'answer' },
    { kind: 'reply', what: 'notification', of: 'gateway', since: ago(22), waitsFor: 'turn' },
    { ...letter, of: 'store of dead letters', since: ago(24), waitsFor: 'answer' },
  ] as const;
  const waiting = { ...stuck, begunAt: undefined };
  const all: readonly (typeof stuck)[] = work
    ? [{ ...stuck, ...work }]
    : [
        { ...waiting, device: 'waiter', state: 'waits for backends', needs: ['typeRegistry'], readAt: ago(32) },
        { ...stuck, readAt: ago(33), begunAt: ago(34), steps },
        { ...waiting, device: 'newest', state: 'waits for room', readAt: ago(31) },
      ];
  const out = { circuit: 'open', outage: { since: ago(31), failure: 'HTTP 503' } } as const;
  const closed = { circuit: 'closed', outage: undefined } as const;
  const read: PartitionState = {
    ...{ partition: '3', state: 'draining', epoch: 11, since: ago(12), position: 13, behindSeconds: 15.04 },
    ...{ asOf: ago(14), inFlight: 16, sleeping: 5, waiting: 17, devices: 18, suspects: 19 },
    oldest: { device: 'stuck', sequenceNumber: 55, readAt: ago(23) },
    checkpoint: { sequenceNumber: 24, ageSeconds: 25.06, failures: 26, isFailing: true, unwritten: 61 },
  };
  const unwanted = { wantedBy: '', wantedSince: 0, etag: '' };
  const idle = { ...read.checkpoint, isFailing: false, unwritten: 300 };
  return serviceRoutes({
    instance: 'host-1',
    deadLetters: { ids: async () => [], read: async () => undefined },
    consumer: {
      partitions: () => [read, { ...read, partition: '8', inFlight: 100, waiting: 200, checkpoint: idle }],
      elsewhere: () => [
        { ...unwanted, partition: '4', owner: 'host-2', epoch: 27, renewedAt: now.getTime() - 28_000 },
        { ...unwanted, partition: '7', owner: '', epoch: 28, renewedAt: now.getTime() - 29_000 },
      ],
      devices: (device) => all.filter((one) => device === undefined || one.device === device),
    },
    backends: {
      states: () => ({
        informationModel: { ...closed, connections: { inUse: 41, waiting: 42 }, oldestMs: 71, cacheEntries: undefined },
        typeRegistry: { ...out, connections: { inUse: 43, waiting: 44 }, oldestMs: 75, cacheEntries: 45 },
        principalManager: { ...closed, connections: { inUse: 46, waiting: 47 }, oldestMs: 79, cacheEntries: 48 },
        ...(tokens !== 'none' && {
          tokenEndpoint: {
            ...(tokens === 'open' ? out : closed),
            connections: { inUse: 49, waiting: 0 },
            oldestMs: 83,
          },
        }),
      }),
    },
    replies: {
      connection: { isOpen: () => true },
      sender: {
        state: () => ({ waiting: 51, inFlight: 52, ratePerSecond: 53, sleeping: 64, notFetching: 54 }),
        fullQueues: () => [
          { device: 'waiter', replies: 65, since: ago(66) },
          { device: 'full', replies: 67, since: ago(68) },
        ],
        notFetching: () => ['waiter', 'deaf'],
      },
    } as never,
  });
}

/** As JSON, which leaves out what is undefined. */
const answerOf = (path: string, query = '', changes: Changes = {}): unknown =>
  JSON.parse(JSON.stringify(routes(changes)[path]?.get?.(new URLSearchParams(query))));

const shownRead = {
  ...{ partition: '3', state: 'draining', epoch: 11, since: shownAgo(12), position: 13, behindSeconds: 15 },
  ...{ asOf: shownAgo(14), inFlight: 16, sleeping: 5, waiting: 17, devices: 18, suspects: 19 },
  oldest: { device: 'stuck', sequenceNumber: 55, readAt: shownAgo(23), seconds: 23 },
  checkpoint: { sequenceNumber: 24, ageSeconds: 25.1, failures: 26, isFailing: true, unwritten: 61 },
};

it('/partitions has the lag and the contents of each partition, sums for a stop, and the owners of the others', () =>
  expect(answerOf('/partitions')).toEqual({
    instance: 'host-1',
    total: { inFlight: 116, waiting: 217, unwritten: 361, failing: 1 },
    partitions: [
      shownRead,
      {
        ...{ ...shownRead, partition: '8', inFlight: 100, waiting: 200 },
        checkpoint: { ...shownRead.checkpoint, isFailing: false, unwritten: 300 },
      },
    ],
    elsewhere: [
      { partition: '4', owner: 'host-2', renewedAt: shownAgo(28) },
      { partition: '7', owner: 'none', renewedAt: shownAgo(29) },
    ],
  }));

it('/backends has circuits, connections, the oldest request and caches', () =>
  expect(answerOf('/backends')).toEqual({
    informationModel: { circuit: 'closed', connections: { inUse: 41, waiting: 42 }, oldestMs: 71 },
    typeRegistry: {
      ...{ circuit: 'open', outage: { failure: 'HTTP 503', since: shownAgo(31), seconds: 31 } },
      ...{ connections: { inUse: 43, waiting: 44 }, oldestMs: 75, cacheEntries: 45 },
    },
    principalManager: {
      ...{ circuit: 'closed', connections: { inUse: 46, waiting: 47 }, cacheEntries: 48 },
      oldestMs: 79,
    },
    tokenEndpoint: {
      circuit: 'open',
      outage: { failure: 'HTTP 503', since: shownAgo(31), seconds: 31 },
      connections: { inUse: 49, waiting: 0 },
      oldestMs: 83,
    },
  }));

it('/replies has the waiting replies', () =>
  expect(answerOf('/replies')).toEqual({
    connected: true,
    ...{ waiting: 51, inFlight: 52, ratePerSecond: 53, sleeping: 64, notFetching: 54 },
  }));

it('/devices has the reason of each wait, the oldest message first, the devices whose queues are full, and those that do not fetch', () => {
  const ofModel = 'an answer of the information model (read references)';
  const turn = 'its turn to be sent, at the rate of the hub (notification to gateway)';
  const ofStore = 'an answer of the store of dead letters (internal_platform_error)';
  expect(answerOf('/devices', 'limit=1')).toMatchObject({
    devices: [{ device: 'stuck' }],
    further: 2,
    fullQueues: { devices: [{ device: 'waiter', replies: 65, since: shownAgo(66), seconds: 66 }], further: 1 },
    notFetching: { devices: ['waiter'], further: 1 },
  });
  expect(answerOf('/devices')).toEqual({
    devices: [
      {
        ...{ device: 'stuck', partition: '3', messages: 4, state: 'in flight' },
        oldest: { sequenceNumber: 55, readAt: shownAgo(33), seconds: 33 },
        waitsFor: `${ofModel}; ${turn}; ${ofStore}`,
        begun: { since: shownAgo(34), seconds: 34 },
        steps: [
          { waitsFor: ofModel, since: shownAgo(21), seconds: 21 },
          { waitsFor: turn, since: shownAgo(22), seconds: 22 },
          { waitsFor: ofStore, since: shownAgo(24), seconds: 24 },
        ],
      },
      {
        ...{ device: 'waiter', partition: '3', messages: 4, state: 'waits for backends', doesNotFetch: true },
        oldest: { sequenceNumber: 55, readAt: shownAgo(32), seconds: 32 },
        waitsFor: 'a backend that is out: typeRegistry',
      },
      {
        ...{ device: 'newest', partition: '3', messages: 4, state: 'waits for room' },
        oldest: { sequenceNumber: 55, readAt: shownAgo(31), seconds: 31 },
        waitsFor: expect.stringMatching(/^room/),
      },
    ],
    further: 0,
    fullQueues: {
      devices: [
        { device: 'waiter', replies: 65, since: shownAgo(66), seconds: 66 },
        { device: 'full', replies: 67, since: shownAgo(68), seconds: 68 },
      ],
      further: 0,
    },
    notFetching: { devices: ['waiter', 'deaf'], further: 0 },
  });
});

it('/devices shows one device on request, and refuses what it does not know', () => {
  expect(answerOf('/devices', 'device=stuck')).toMatchObject({
    devices: [{ device: 'stuck' }],
    fullQueues: { devices: [], further: 0 },
    notFetching: { devices: [], further: 0 },
  });
  expect(answerOf('/devices', 'device=deaf')).toMatchObject({ devices: [], notFetching: { devices: ['deaf'] } });
  for (const wrong of ['device=', 'limit=0', 'limit=1.5', 'limit=1001', 'devices=stuck'])
    expect(() => answerOf('/devices', wrong)).toThrow();
});

const call = (waitsFor: string) =>
  ({ kind: 'call', what: 'read object', of: 'type registry', since: 0, waitsFor }) as const;
const needing = (...needs: string[]) => ({ state: 'waits for backends', needs }) as const;
const reply = (waitsFor: string) => ({ kind: 'reply', what: 'ack', of: 'gateway', since: 0, waitsFor }) as const;

it.each<[string, Changes['work'], Changes['tokens']?]>([
  ['nothing: it is being handled', { state: 'in flight' }],
  ['room: too many messages are in flight (DELIVERY_MAX_MESSAGES, DELIVERY_MAX_BYTES)', { state: 'waits for room' }],
  ['a backend that is out: typeRegistry', needing('informationModel', 'typeRegistry')],
  ['an access token for the backends: the token endpoint is out (BACKENDS_TOKEN_URL)', needing('informationModel')],
  ['a backend that is out: typeRegistry, tokenEndpoint', needing('typeRegistry', 'tokenEndpoint')],
  ['a backend that is out: ', needing('informationModel'), 'closed'],
  ['a backend that is out: ', needing('informationModel'), 'none'],
  ['its turn: it may have ended the process before (G4)', { state: 'waits for its turn' }],
  ['a free connection to the type registry (read object)', { steps: [call('connection')] }],
  ['the end of the outage of the type registry (read object)', { steps: [call('circuit')] }],
  ['an access token for the type registry (read object)', { steps: [call('token')] }],
  ['the next attempt at the type registry (read object)', { steps: [call('retry')] }],
  ['the hub to take a reply (ack to gateway)', { steps: [reply('hub')] }],
  [
    'room in the queue of the device, which does not fetch its messages (ack to gateway)',
    { steps: [reply('queue_full')] },
  ],
  ['another attempt to send, after throttled (ack to gateway)', { steps: [reply('throttled')] }],
])('/devices has the wait for %s', (waitsFor, work, tokens) =>
  expect(answerOf('/devices', '', { ...(work && { work }), ...(tokens && { tokens }) })).toMatchObject({
    devices: [{ waitsFor }],
  }),
);
