import { join } from 'node:path';
import { inject } from 'iot-hub-emulator/testing';
import { describe, expect, it } from 'vitest';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import type { Consumer } from '../../src/hub/reading/consumer.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { createFileStore, createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { signal } from '../support/waiting.ts';
import { askFor } from './support/claims.ts';
import { consumersForEach, textOf, usualOpened } from './support/reading.ts';

cureHubSdks();

let consumer: Consumer | undefined;

const hub = hubForAll({ partitions: 1, consumerGroups: ['one', 'two', 'five', 'six', 'seven'] });
const begin = consumersForEach();

const send = (...bodies: string[]) => inject(hub, bodies);

/** Reads the hub as the service does; every event is handled by `handle`. */
function read(
  consumerGroup: string,
  handle: (event: HubEvent) => Promise<boolean>,
  store: CheckpointStore = createMemoryStore(),
  repeats: string[] = [],
) {
  consumer = begin({
    ...{ access: hub.eventsConnectionString, consumerGroup, drainMs: 2_000, roundMs: 200 },
    ...{ balance: { expiryMs: 2_000, forceMs: 4_000 }, store },
    partition: () => ({
      ...usualOpened(),
      receivedMessageOf(event, redelivered) {
        if (redelivered) repeats.push(textOf(event));
        return { event, deviceId: 'd1' };
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
      const reading = read('five', into(seen), failing, repeats);
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
});
