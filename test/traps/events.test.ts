import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import {
  type CheckpointStore,
  EventHubConsumerClient,
  type PartitionContext,
  type ReceivedEventData,
} from '@azure/event-hubs';
import { Connection, ConnectionEvents } from 'rhea-promise';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { hubForEach } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { signal } from '../support/waiting.ts';
import { append, bodies, memoryStore, subscribe } from './support/plain.ts';

// Each trap is reproduced against the plain @azure/event-hubs: a new version of it that behaves otherwise fails here.

const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], partitions: 1 });

const receivers = () => hub.counters().receivers;
const quickBalancing = {
  strategy: 'greedy',
  updateIntervalInMs: 100,
  partitionOwnershipExpirationIntervalInMs: 1000, // a minute as it comes
} as const;
const balanced = (store: CheckpointStore) =>
  new EventHubConsumerClient('$Default', hub.eventsConnectionString, store, { loadBalancingOptions: quickBalancing });

test('trap 8: credit is given every cycle in addition to the outstanding credit', async () => {
  const prefetchCount = 100;
  const trickle = setInterval(() => append(hub, 'x'), 10);
  const { stop } = subscribe(hub, { processEvents: async () => undefined }, { prefetchCount, maxBatchSize: 1 });
  await expect.poll(() => receivers()[0]?.credit ?? 0).toBeGreaterThan(5 * prefetchCount);
  clearInterval(trickle);
  await stop();
});

describe('trap 9: an error that escapes the handler', () => {
  test('stops the partition if it is an ordinary error', async () => {
    append(hub, 'first');
    const closed = signal<string>();
    const { stop } = subscribe(hub, {
      processEvents: async () => {
        throw new Error('a bug');
      },
      processClose: async (reason) => closed.give(reason),
    });
    expect(await closed.given).toBe('Shutdown');
    await expect.poll(receivers).toEqual([]);
    await stop();
  });
  test('leaves the partition unread until its ownership expires; then it starts at the latest event: loss', async () => {
    const store = memoryStore();
    const client = balanced(store);
    const [closed, started] = [signal(), signal()];
    const seen: string[] = [];
    let starts = 0;
    const subscription = client.subscribe({
      async processInitialize() {
        starts += 1;
        if (starts === 2) started.give();
      },
      async processEvents(events) {
        seen.push(...bodies(events));
        if (seen.length === 1) throw new Error('a bug');
      },
      processError: async () => undefined,
      processClose: async () => closed.give(),
    });
    await expect.poll(() => receivers().length).toBe(1);
    append(hub, 'poison');
    await closed.given;
    const claims = store.claims.get('0') ?? 0;
    append(hub, 'lost');
    await new Promise((resolve) => setTimeout(resolve, 500)); // half of the expiry, five rounds of balancing
    expect(store.claims.get('0')).toBe(claims);
    await started.given;
    await expect.poll(() => receivers().length).toBe(1);
    append(hub, 'later');
    await expect.poll(() => seen).toEqual(['poison', 'later']);
    await subscription.close();
    await client.close();
  });
  test('skips the batch silently if it is retryable', async () => {
    append(hub, 'skipped');
    const seen: string[] = [];
    const { stop } = subscribe(hub, {
      async processEvents(events) {
        const first = seen.length === 0;
        seen.push(...bodies(events));
        if (first && seen.length > 0) {
          append(hub, 'next');
          throw Object.assign(new Error('try again'), { retryable: true });
        }
      },
    });
    await expect.poll(() => seen).toContain('next');
    expect(seen).toEqual(['skipped', 'next']);
    await stop();
  });
});

test('trap 10: closing a subscription waits for no handler', async () => {
  append(hub, 'x');
  const [running, finish, closed] = [signal(), signal(), signal<string>()];
  let finished = false;
  const { subscription, stop } = subscribe(hub, {
    async processEvents() {
      running.give();
      await finish.given;
      finished = true;
    },
    processClose: async (reason) => closed.give(reason),
  });
  await running.given;
  await subscription.close();
  expect(await closed.given).toBe('Shutdown');
  expect(finished).toBe(false);
  finish.give();
  await stop();
});

test('trap 12: a connection that drops while its partition is idle is not detected before the wait is over', async () => {
  const [opened, over] = [signal(), signal()];
  const happened: string[] = [];
  let waits = 0;
  const { stop } = subscribe(
    hub,
    {
      processInitialize: async () => opened.give(),
      async processEvents(events) {
        waits += 1;
        happened.push(events.length === 0 ? 'the wait is over' : 'an event');
        if (waits === 2) over.give();
      },
      processError: async () => {
        happened.push('an error');
      },
    },
    { maxWaitTimeInSeconds: 3 },
  );
  await opened.given;
  await expect.poll(() => receivers().length).toBe(1);
  expect(await hub.faults.strike({ kind: 'drop', connections: 'events' })).toBe(1);
  append(hub, 'there at once, and late');
  hub.journal.watch(({ kind }) => kind === 'receiver-opened' && happened.push('connected again'));
  await over.given;
  expect(happened.slice(0, 2)).toEqual(['the wait is over', 'connected again']);
  await stop();
});

test('trap 13: a handler that hangs keeps its partition, because its ownership is still renewed', async () => {
  append(hub, 'x');
  const store = memoryStore();
  const hanging = signal();
  const settings = { startPosition: { offset: '-1' }, maxWaitTimeInSeconds: 1 };
  const hung = balanced(store);
  const never = new Promise<void>(() => undefined);
  const first = hung.subscribe(
    { processEvents: () => never, processError: async () => undefined, processInitialize: async () => hanging.give() },
    settings,
  );
  await hanging.given;
  const waiting = balanced(store);
  const processEvents = vi.fn(async (_: ReceivedEventData[]) => undefined);
  const second = waiting.subscribe({ processEvents, processError: async () => undefined }, settings);
  await expect.poll(() => store.claims.get('0') ?? 0).toBeGreaterThan(15); // thrice the expiry
  expect(processEvents).not.toHaveBeenCalled();
  await Promise.all([first.close(), second.close()]);
  await Promise.all([hung.close(), waiting.close()]);
});

describe('trap 14: the defaults', () => {
  test('start at the latest event, so that earlier events are never read', async () => {
    append(hub, 'old');
    const seen: string[] = [];
    const client = new EventHubConsumerClient('$Default', hub.eventsConnectionString);
    const subscription = client.subscribe('0', {
      processEvents: async (events) => void seen.push(...bodies(events)),
      processError: async () => undefined,
    });
    await expect.poll(() => receivers().length).toBe(1);
    append(hub, 'new');
    await expect.poll(() => seen).toEqual(['new']);
    await subscription.close();
    await client.close();
  });
  test('parse bodies, which damages 64-bit numbers, and give bytes for invalid JSON', async () => {
    append(hub, '{"id":9007199254740993}');
    append(hub, '{"id":');
    const seen: unknown[] = [];
    const processEvents = async (events: ReceivedEventData[]) => void seen.push(...events.map(({ body }) => body));
    const { stop } = subscribe(hub, { processEvents }, { skipParsingBodyAsJson: false });
    await expect.poll(() => seen.length).toBe(2);
    expect(seen).toEqual([{ id: 9007199254740992 }, Buffer.from('{"id":')]);
    await stop();
  });
  test('turn the bytes of a user id into an object of numbers', async () => {
    const userId = Buffer.from('operator');
    append(hub, 'x', { user_id: userId });
    const seen: unknown[] = [];
    const processEvents = async (events: ReceivedEventData[]) =>
      void seen.push(...events.map(({ systemProperties }) => systemProperties?.['userId']));
    const { stop } = subscribe(hub, { processEvents });
    await expect.poll(() => seen.length).toBe(1);
    expect(seen[0]).not.toBeInstanceOf(Buffer);
    expect(seen).toEqual([{ ...userId }]);
    await stop();
  });
});

test('trap 17: used-up retries end as an error without a code; the partition starts again from its checkpoint', async () => {
  for (const body of ['a', 'b', 'c']) append(hub, body);
  const client = new EventHubConsumerClient('$Default', hub.eventsConnectionString, memoryStore(), {
    retryOptions: { maxRetries: 1, retryDelayInMs: 1 },
    loadBalancingOptions: quickBalancing,
  });
  const seen: string[] = [];
  const happened: string[] = [];
  const errors: unknown[] = [];
  const subscription = client.subscribe(
    {
      async processEvents(events: ReceivedEventData[], context: PartitionContext) {
        seen.push(...bodies(events));
        const first = events[0];
        if (first && seen.length === events.length) await context.updateCheckpoint(first);
      },
      processError: async (error) => void errors.push(error),
      processClose: async (reason) => void happened.push(reason),
    },
    { startPosition: { offset: '-1' }, maxWaitTimeInSeconds: 1, maxBatchSize: 3 },
  );
  await expect.poll(() => seen).toEqual(['a', 'b', 'c']);
  const id = hub.faults.add({ kind: 'refuse-link', partition: '0', condition: 'com.microsoft:server-busy' });
  await hub.faults.strike({ kind: 'detach', partition: '0', condition: 'com.microsoft:server-busy' });
  await expect.poll(() => happened).toContain('Shutdown');
  hub.faults.clear(id);
  await expect.poll(() => seen).toEqual(['a', 'b', 'c', 'b', 'c']);
  const bare = errors.find((error) => error instanceof AggregateError);
  expect(bare).toBeDefined();
  expect(bare).not.toHaveProperty('code');
  await subscription.close();
  await client.close();
});

test.each([
  [undefined, []],
  ['amqp:internal-error', []],
  ['amqp:connection:forced', ['disconnected']],
])('trap 18: a connection that the hub closes with %s is told of %j', async (condition, expected) => {
  const connection = new Connection({ host: '127.0.0.1', port: hub.ports.amqp, transport: 'tcp', reconnect: false });
  await connection.open();
  const told: string[] = [];
  connection.on(ConnectionEvents.disconnected, () => told.push('disconnected'));
  const closed = once(Reflect.get(Reflect.get(connection, '_connection'), 'socket'), 'close');
  expect(await hub.faults.strike({ kind: 'close', links: 'attached', condition })).toBe(1);
  await closed;
  await setImmediate();
  expect({ isOpen: connection.isOpen(), told }).toEqual({ isOpen: false, told: expected });
});

test('trap 20: an event is delivered 20 ms after its arrival', async () => {
  const credit = () => receivers()[0]?.credit ?? 0;
  let creditBefore = 0;
  const seen: string[] = [];
  const { stop } = subscribe(hub, {
    async processEvents(events) {
      creditBefore = credit();
      seen.push(...bodies(events));
    },
  });
  append(hub, 'first');
  await expect.poll(() => seen).toEqual(['first']);
  await expect.poll(credit).toBeGreaterThan(creditBefore); // the client waits for the next event
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const before = receivers()[0]?.delivered ?? 0;
  append(hub, 'held back');
  while ((receivers()[0]?.delivered ?? 0) === before) await setImmediate();
  // What has been written is read in one of the next turns.
  for (let turn = 0; turn < 1_000; turn += 1) await setImmediate();
  await vi.advanceTimersByTimeAsync(19);
  expect(seen).toEqual(['first']);
  await vi.advanceTimersByTimeAsync(1);
  expect(seen).toEqual(['first', 'held back']);
  vi.useRealTimers();
  await stop();
});
