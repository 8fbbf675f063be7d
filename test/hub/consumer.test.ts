import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { startHub } from 'iot-hub-emulator';
import { inject } from 'iot-hub-emulator/testing';
import { Receiver } from 'rhea-promise';
import { describe, expect, it, onTestFinished } from 'vitest';
import { portForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { type Consumer, createConsumer } from '../../src/hub/reading/consumer.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { createFileStore, createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { signal } from '../support/waiting.ts';
import { askFor } from './support/claims.ts';
import { consumersForEach, textOf, usualOpened, usualReading } from './support/reading.ts';

cureHubSdks();

const prefetch = 50;
let consumer: Consumer | undefined;

const hub = hubForAll({ partitions: 1, consumerGroups: ['one', 'two', 'three', 'four', 'five', 'six', 'seven'] });
const begin = consumersForEach();

const send = (...bodies: string[]) => inject(hub, bodies);

/** Reads the hub as the service does; every event is handled by `handle`. */
function read(
  consumerGroup: string,
  handle: (event: HubEvent) => Promise<boolean>,
  store: CheckpointStore = createMemoryStore(),
  maxMessages = 100,
  repeats: string[] = [],
) {
  consumer = begin({
    ...{ access: hub.eventsConnectionString, consumerGroup, prefetch, drainMs: 2_000, roundMs: 200 },
    ...{ balance: { expiryMs: 2_000, forceMs: 4_000 }, store },
    partition: () => ({
      ...usualOpened(maxMessages),
      receivedMessageOf(event, redelivered) {
        if (redelivered) repeats.push(textOf(event));
        return { event, deviceId: deviceOf(event) };
      },
      dispatch: ({ event }) => handle(event),
    }),
  });
  return consumer;
}

/** Handles each event by keeping its text. */
const into = (seen: string[]) => async (event: HubEvent) => {
  seen.push(textOf(event));
  return true;
};

/** `backlog 7` comes of a device of its own; everything else of one. */
const deviceOf = (event: HubEvent) => (textOf(event).startsWith('backlog') ? textOf(event) : 'd1');

describe('the consumer, with the official client against the sandbox hub', () => {
  it('starts at the earliest event when there is no checkpoint, and leaves bodies as the bytes they are', async () => {
    await send('{"big":12345678901234567890}', 'no JSON at all');
    const seen: string[] = [];
    read('one', into(seen));
    await expect.poll(() => seen).toEqual(['{"big":12345678901234567890}', 'no JSON at all']);
    await expect.poll(() => consumer?.missing()).toEqual([]);
  });

  it('resumes after the last message handled to its end', async () => {
    const store = () => createFileStore(join(hub.directory, 'resume'), 'place');
    const marks = ['r1', 'r2', 'r3'];
    await send(...marks);
    const firstRun: string[] = [];
    read(
      'two',
      async (event) => {
        firstRun.push(textOf(event));
        return textOf(event) !== 'r3';
      },
      store(),
    );
    await expect.poll(() => firstRun.at(-1)).toBe('r3');
    await consumer?.stop();

    const secondRun: string[] = [];
    read('two', into(secondRun), store());
    await expect.poll(() => secondRun).toEqual(['r3']);
  });

  it('treats messages as possible repeats unless the previous reader has released the partition', async () => {
    const store = createMemoryStore();
    let isDown = false;
    const failing: CheckpointStore = {
      ...store,
      change: (seen, next) => (isDown ? Promise.reject(new Error('down')) : store.change(seen, next)),
    };
    async function life(): Promise<string[]> {
      const [seen, repeats]: [string[], string[]] = [[], []];
      await send(`life ${lives++}`);
      const reading = read('five', into(seen), failing, 100, repeats);
      await expect.poll(() => seen).toContain(`life ${lives - 1}`);
      isDown = lives === 2;
      await reading.stop();
      isDown = false;
      return repeats.filter((text) => text.startsWith('life'));
    }
    let lives = 0;
    expect(await life()).toEqual(['life 0']); // nobody knows what there was before
    expect(await life()).toEqual([]); // which could not give the partition back
    expect(await life()).toEqual(['life 2']);
    expect(await life()).toEqual([]);
  });

  it('continues with a partition that it could not release when it is no longer requested', async () => {
    const store = createMemoryStore();
    let refusals = 0;
    const failing: CheckpointStore = {
      ...store,
      change(seen, next) {
        if (next.owner !== '' || refusals > 0) return store.change(seen, next);
        refusals += 1;
        return Promise.reject(new Error('down'));
      },
    };
    const seen: string[] = [];
    read('six', into(seen), failing);
    await askFor(store);
    await expect.poll(() => refusals).toBe(1);
    const [record] = await store.ownerships();
    if (record) await store.change(record, { ...record, wantedBy: '' });
    await send('after all');
    await expect.poll(() => seen).toContain('after all');
  });

  it('takes no more events while it releases a partition, and finishes the release when it is stopped', async () => {
    const store = createMemoryStore();
    const { given: finished, give: finish } = signal<boolean>();
    const started: string[] = [];
    await send('in work');
    const reading = read(
      'seven',
      async (event) => {
        if (textOf(event) !== 'in work') return true;
        started.push(textOf(event));
        return finished;
      },
      store,
    );
    const receivers = () => hub.counters().receivers.filter(({ address }) => address.includes('/seven/'));
    await expect.poll(() => started).toEqual(['in work']);
    expect(receivers()).toHaveLength(1);
    await askFor(store);
    await expect.poll(() => receivers()).toEqual([]);
    const stopped = reading.stop();
    await new Promise((resolve) => setTimeout(resolve, 300));
    finish(true);
    await stopped;
    const progress = await store.progress('0');
    expect(await store.ownerships()).toMatchObject([{ owner: '', begun: progress?.sequenceNumber }]);
    expect(progress?.completed).toBe('');
  });

  it('never grants the hub more credit than the prefetch, however slowly events arrive', async () => {
    const granted = Receiver.prototype.addCredit;
    let most = 0;
    Receiver.prototype.addCredit = function record(this: Receiver, credit: number) {
      granted.call(this, credit);
      if (this.source.address?.includes('/Partitions/')) most = Math.max(most, this.credit);
    };
    try {
      const seen: string[] = [];
      read('three', into(seen));
      for (let index = 0; index < 20; index += 1) {
        await send(`trickle ${index}`);
        await expect.poll(() => seen, { interval: 2 }).toContain(`trickle ${index}`);
      }
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThanOrEqual(prefetch);
    } finally {
      Receiver.prototype.addCredit = granted;
    }
  });

  it('leaves events in the hub that exceed the budget', async () => {
    const started: string[] = [];
    const { given: gate, give: release } = signal<boolean>();
    await send(...Array.from({ length: 200 }, (_, index) => `backlog ${index}`));
    const own = (event: HubEvent) => textOf(event).startsWith('backlog');
    read(
      'four',
      async (event) => {
        if (!own(event)) return true;
        started.push(textOf(event));
        return gate;
      },
      createMemoryStore(),
      5,
    );
    await expect.poll(() => started).toHaveLength(5);
    await send('one more');
    expect(started).toHaveLength(5);
    expect(consumer?.waiting()).toEqual({ messages: expect.any(Number), partitions: ['0'] });
    expect(consumer?.waiting().messages).toBeGreaterThanOrEqual(5); // those that have begun, and others behind them
    release(true);
    await expect.poll(() => started).toContain('backlog 199');
    await expect.poll(() => consumer?.waiting()).toEqual({ messages: 0, partitions: [] });
  });
});

/** A way to this port on which connections can stay open and carry nothing. */
async function wayTo(port: number) {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy()).on('close', () => other.destroy());
      socket.pipe(other);
      if (isFrozen) socket.pause();
    }
  });
  return {
    port: await portForTest(server),
    freeze(frozen: boolean) {
      isFrozen = frozen;
      for (const socket of sockets) frozen ? socket.pause() : socket.resume();
    },
  };
}

it('a hub that becomes silent on open connections is reported, and so is the end of the silence', async () => {
  const hub = await startHub({ partitions: 1 });
  const [, port] = /:(\d+)/.exec(hub.eventsConnectionString) ?? [];
  const way = await wayTo(Number(port));
  const seen: number[] = [];
  const consumer = createConsumer({
    ...usualReading,
    access: hub.eventsConnectionString.replace(`:${port}`, `:${way.port}`),
    silentMs: 60_000, // the client itself goes on reporting an idle partition
    answerMs: 1_000,
    store: createMemoryStore(),
    partition: () => ({
      ...usualOpened(),
      async dispatch({ event }) {
        seen.push(event.sequenceNumber);
        return true;
      },
    }),
  });
  onTestFinished(async () => {
    way.freeze(false);
    await consumer.stop();
    await hub.close();
  });
  consumer.start();
  await inject(hub, ['one']);
  await expect.poll(() => seen).toEqual([0]);
  await expect.poll(() => consumer.partitions()[0]).toMatchObject({ behindSeconds: 0, asOf: expect.any(Number) });
  expect(consumer.missing()).toEqual([]);

  way.freeze(true);
  await expect.poll(() => consumer.missing()).toEqual([expect.stringMatching(/^partition 0 of the hub: /)]);
  expect(consumer.partitions()[0]).toMatchObject({ behindSeconds: null, asOf: expect.any(Number) });

  way.freeze(false);
  await expect.poll(() => consumer.missing()).toEqual([]);
  await expect.poll(() => consumer.partitions()[0]?.behindSeconds).toBe(0);
});
