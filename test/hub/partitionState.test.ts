import { inject } from 'iot-hub-emulator/testing';
import { describe, expect, it } from 'vitest';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import type { Consumer } from '../../src/hub/reading/consumer.ts';
import type { PartitionState } from '../../src/hub/reading/hubWatch.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { signal } from '../support/waiting.ts';
import { takeOver } from './support/claims.ts';
import { consumersForEach, textOf, usualOpened } from './support/reading.ts';

cureHubSdks();

let consumer: Consumer | undefined;
const hub = hubForAll({ partitions: 1, consumerGroups: ['one', 'three', 'five'] });
const begin = consumersForEach();

const send = (...bodies: string[]) => inject(hub, bodies);

/** Reads the hub; the messages that begin with `name` are held until the test lets them go. The text before `-` is the device. */
function read(consumerGroup: string, name: string, maxMessages: number, store: CheckpointStore = createMemoryStore()) {
  const begun: HubEvent[] = [];
  const { given: gate, give: letGo } = signal<boolean>();
  consumer = begin({
    ...{ access: hub.eventsConnectionString, consumerGroup, drainMs: 500, roundMs: 200 },
    ...{ balance: { expiryMs: 2_000, forceMs: 4_000 }, store },
    partition: () => ({
      ...usualOpened(maxMessages),
      limits: { everyMessages: 1, everyMs: 200 },
      receivedMessageOf: (event) => ({ event, deviceId: textOf(event).split('-')[0] ?? '' }),
      async dispatch({ event }) {
        if (!textOf(event).startsWith(name)) return true;
        begun.push(event);
        return gate;
      },
    }),
  });
  return { begun, letGo };
}

const state = (): PartitionState | undefined => consumer?.partitions()[0];

describe('the state of a partition', () => {
  it('has its lag behind the hub while messages wait for room', async () => {
    const before = performance.now();
    await send(...Array.from({ length: 30 }, (_, index) => `behind${index}-x`));
    const { begun, letGo } = read('one', 'behind', 5);
    await expect.poll(() => begun.length).toBe(5);
    const first = begun[0];
    await expect.poll(() => state()?.asOf).toBeDefined();
    expect(state()).toMatchObject({
      ...{ partition: '0', state: 'reading', epoch: 1, position: begun[4]?.sequenceNumber, inFlight: 5 },
      ...{ waiting: 0, devices: 5, oldest: { device: 'behind0', sequenceNumber: first?.sequenceNumber } },
      suspects: 0,
    });
    for (const time of [state()?.since, state()?.oldest?.readAt]) {
      expect(time).toBeGreaterThanOrEqual(before);
      expect(time).toBeLessThanOrEqual(performance.now());
    }
    const age = () => (Date.now() - (begun[0]?.enqueuedTimeUtc.getTime() ?? 0)) / 1000;
    await expect.poll(() => state()?.behindSeconds).toBeGreaterThan(0);
    expect(Math.abs((state()?.behindSeconds ?? 0) - age())).toBeLessThan(0.5);
    letGo(true);
    await expect.poll(() => state()).toMatchObject({ behindSeconds: 0, inFlight: 0, oldest: undefined });
  });

  it('has the age of the checkpoint, and the number of failed writes', async () => {
    let isDown = true;
    const store = createMemoryStore();
    read('three', 'nothing', 100, {
      ...store,
      writeCheckpoint: (...given) => (isDown ? Promise.reject(new Error('down')) : store.writeCheckpoint(...given)),
    });
    await send('done-1');
    await expect.poll(() => state()?.checkpoint.failures).toBeGreaterThan(1);
    expect(state()?.checkpoint.ageSeconds).toBeGreaterThan(0);
    expect(await store.progress('0')).toBeUndefined();
    const isUpToDate = () =>
      state()?.checkpoint.ageSeconds === 0 && state()?.checkpoint.sequenceNumber === state()?.position;
    isDown = false;
    await expect.poll(() => isUpToDate()).toBe(true);
  });

  it('names another instance that owns it', async () => {
    const store = createMemoryStore();
    await takeOver(store, 'another');
    read('five', 'nothing', 100, store);
    await expect.poll(() => consumer?.elsewhere()).toMatchObject([{ partition: '0', owner: 'another' }]);
    expect(consumer?.partitions()).toEqual([]);
    await expect.poll(() => state()?.state).toBe('reading'); // the other one has not renewed it
    expect(consumer?.elsewhere()).toEqual([]);
  });
});
