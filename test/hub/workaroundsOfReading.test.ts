import { Socket } from 'node:net';
import { EventHubConsumerClient } from '@azure/event-hubs';
import { Connection, ConnectionEvents } from 'rhea-promise';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hubForEach } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import type { Consumer } from '../../src/hub/reading/consumer.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { signal } from '../support/waiting.ts';
import { append } from '../traps/support/plain.ts';
import { consumersForEach, usualOpened } from './support/reading.ts';

// What the hub's clients do to a program that trusts them, and that this service does not suffer from it. The clients
// are the official ones, the hub is the sandbox's; test/traps reproduces each trap without the cure.

cureHubSdks();

const soon = { timeout: 25_000, interval: 25 }; // less than the half minute that the client waits by itself (SDK trap 11)
const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], partitions: 1 });

let seen: string[];
const arrives = async (text: string) => {
  append(hub, text);
  await vi.waitFor(() => expect(seen).toContain(text), soon);
};

/** Until the connection of events is gone. */
async function closed(how: { links?: 'attached'; condition?: string | undefined }) {
  const ended = signal();
  const unwatch = hub.journal.watch(({ kind }) => kind === 'receiver-closed' && ended.give());
  expect(await hub.faults.strike({ kind: 'close', connections: 'events', ...how })).toBe(1);
  await ended.given;
  unwatch();
}

/** A connection of the AMQP library, which ends with the test, and the one within it. */
async function opened() {
  const connection = new Connection({ host: '127.0.0.1', port: hub.ports.amqp, transport: 'tcp', reconnect: false });
  onTestFinished(() => connection.close());
  await connection.open();
  const inner: { dispatch(event: string, error: Error): boolean } = Reflect.get(connection, '_connection');
  return { connection, inner };
}

it('the client of events sends each frame at once', async () => {
  const setNoDelay = vi.spyOn(Socket.prototype, 'setNoDelay');
  const client = new EventHubConsumerClient('$Default', hub.eventsConnectionString);
  onTestFinished(() => client.close());
  await client.getPartitionIds();
  const undelayed = setNoDelay.mock.contexts.filter((_, call) => setNoDelay.mock.calls[call]?.[0] === true);
  expect(undelayed.map((socket) => socket instanceof Socket && socket.remotePort)).toContain(hub.ports.amqp);
});

it('a connection without listeners tolerates an error', async () => {
  const { inner } = await opened();
  expect(inner.dispatch('error', new Error('an unexpected frame'))).toBe(true);
});

it.each([undefined, 'amqp:internal-error'])(
  'a connection that the hub closes with its links attached is told that it is lost: %s (trap 18)',
  async (condition) => {
    const { connection } = await opened();
    const lost = signal();
    connection.once(ConnectionEvents.disconnected, () => lost.give());
    expect(await hub.faults.strike({ kind: 'close', links: 'attached', condition })).toBe(1);
    await lost.given;
  },
);

it('a link has no address after its connection was lost', async () => {
  const { connection } = await opened();
  const receiver = await connection.createReceiver({ source: { address: '$cbs' } });
  expect(receiver.address).toBe('$cbs');
  // what the library does with each link before it connects again
  Reflect.get(receiver, '_link')._reconnect();
  expect(receiver.address).toBeUndefined();
});

describe('reading the hub', () => {
  const watchful = 2_500;
  /** The watchdog would help with nearly everything, in its time. */
  const noWatchdog = 600_000;
  const begin = consumersForEach();
  let consumer: Consumer;
  let handle: () => Promise<boolean>;

  function read(silentMs = watchful) {
    seen = [];
    handle = async () => true;
    consumer = begin({
      ...{ access: hub.eventsConnectionString, drainMs: 2_000, roundMs: 200, answerMs: 500, silentMs },
      ...{ balance: { expiryMs: 5_000, forceMs: 9_000 }, store: createMemoryStore() },
      partition: () => ({
        ...usualOpened(),
        dispatch({ event }) {
          seen.push(String(event.body));
          return handle();
        },
      }),
    });
  }

  it('begins although the hub does not answer at first (trap 11)', async () => {
    const mute = hub.faults.add({ kind: 'refuse-connection', answer: 'silent', port: 'amqp' });
    read();
    await vi.waitFor(() => expect(hub.faults.list()[0]?.struck).toBeGreaterThan(1), soon);
    hub.faults.clear(mute);
    await arrives('at last');
    await vi.waitFor(() => expect(consumer.missing()).toEqual([]), soon);
  });

  it.each<[what: string, happen: () => Promise<unknown>]>([
    ['the hub was down (trap 11)', () => hub.faults.strike({ kind: 'restart', downMs: 2_500 })],
    ['a connection broke without an event (trap 12)', () => hub.faults.strike({ kind: 'drop', connections: 'events' })],
    ...[undefined, 'amqp:connection:forced', 'amqp:internal-error'].map(
      (condition): [string, () => Promise<unknown>] => [
        `the hub closed the connection with its links attached: ${condition} (trap 18)`,
        () => closed({ links: 'attached', condition }),
      ],
    ),
    ['the hub ended links, sessions and connection', () => closed({ condition: 'amqp:connection:forced' })],
    ...[true, false].map((closed): [string, () => Promise<unknown>] => [
      `a link was detached without an error, closed: ${closed}`,
      async () => expect(await hub.faults.strike({ kind: 'detach', partition: '0', closed })).toBe(1),
    ]),
  ])('continues after %s', async (_, happen) => {
    read(noWatchdog);
    await arrives('before');
    await happen();
    await arrives('after');
    expect(seen).toEqual(['before', 'after']);
  });

  it.each([
    ['a minute, when the hub has events that do not come', 61_000, 'after'],
    ['five minutes, when the hub has none', 301_000, undefined],
  ])('reconnects when a connection is silent without an error for %s', async (_, ms, held) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      read(noWatchdog);
      await arrives('before');
      expect(await hub.faults.strike({ kind: 'mute', connections: 'events' })).toBe(1);
      const opened = signal();
      const unwatch = hub.journal.watch(({ kind }) => kind === 'receiver-opened' && opened.give());
      if (held) append(hub, held);
      vi.advanceTimersByTime(ms);
      await opened.given;
      unwatch();
      if (held === undefined) {
        expect(consumer.eventlessMs()).toBeGreaterThanOrEqual(ms);
        append(hub, 'after');
      }
      await vi.waitFor(() => expect(seen).toEqual(['before', 'after']), soon);
    } finally {
      vi.useRealTimers();
    }
  });

  it('reports that it is stuck when replacing the client does not help, and the end of that', async () => {
    read();
    await arrives('before');
    await vi.waitFor(() => expect(consumer.partitions()[0]?.behindSeconds).toBe(0), soon);
    const mute = hub.faults.add({ kind: 'refuse-connection', answer: 'silent', port: 'amqp' });
    await hub.faults.strike({ kind: 'drop', connections: 'events' });
    await vi.waitFor(() => expect(consumer.silentForMs()).toBeGreaterThan(2 * watchful), soon);
    expect(consumer.missing()).toEqual([expect.stringMatching(/^partition 0 of the hub: /)]);
    expect(consumer.partitions()[0]).toMatchObject({ behindSeconds: null, asOf: expect.any(Number) });
    hub.faults.clear(mute);
    await arrives('after');
    expect(seen).toEqual(['before', 'after']);
    await vi.waitFor(() => expect(consumer.silentForMs()).toBeLessThan(watchful), soon);
    await vi.waitFor(() => expect(consumer.partitions()[0]?.behindSeconds).toBe(0), soon);
  });

  it.each([
    ['that is busy, when the client has used up its retries (trap 17)', 'com.microsoft:server-busy', 6_000],
    ['that closes and opens its message container, which takes a while', 'com.microsoft:container-close', 25_000],
  ])('continues at a hub %s', async (_, condition, timeout) => {
    read(noWatchdog);
    await arrives('before');
    const refusal = hub.faults.add({ kind: 'refuse-link', partition: '0', condition });
    await hub.faults.strike({ kind: 'detach', partition: '0', condition });
    // Four attempts, and one when it begins again: left alone, the client would look after the partition every 10 s.
    const limit = { ...soon, timeout };
    await vi.waitFor(() => expect(hub.faults.list()[0]?.struck).toBeGreaterThan(4), limit);
    hub.faults.clear(refusal);
    await arrives('after');
    expect(seen).toEqual(['before', 'after']);
  });

  it('stops when the messages in progress are done, although closing a subscription waits for nothing (trap 10)', async () => {
    read();
    const ended = signal<boolean>();
    handle = () => ended.given;
    await arrives('begun');
    let stopped = false;
    const stopping = consumer.stop().then(() => (stopped = true));
    append(hub, 'too late');
    // Longer than a stop waits for what it has told to leave.
    await Promise.race([stopping, new Promise((resolve) => setTimeout(resolve, 1_500))]);
    expect(stopped).toBe(false);
    ended.give(true);
    await stopping;
    expect(seen).toEqual(['begun']);
  });
});
