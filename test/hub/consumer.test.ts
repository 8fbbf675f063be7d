import { inject } from 'iot-hub-emulator/testing';
import { describe, expect, it } from 'vitest';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { consumersForEach, textOf, usualOpened } from './support/reading.ts';

cureHubSdks();

const hub = hubForAll({ partitions: 1, consumerGroups: ['one', 'five'] });
const begin = consumersForEach();

const send = (...bodies: string[]) => inject(hub, bodies);

/** Reads the hub as the service does, and keeps the text of every event, and of those that may be repeats. */
const read = (consumerGroup: string, seen: string[], store: CheckpointStore, repeats: string[] = []) =>
  begin({
    ...{ access: hub.eventsConnectionString, consumerGroup, drainMs: 2_000, roundMs: 200 },
    ...{ balance: { expiryMs: 2_000, forceMs: 4_000 }, store },
    partition: () => ({
      ...usualOpened(),
      receivedMessageOf(event, redelivered) {
        if (redelivered) repeats.push(textOf(event));
        return { event, deviceId: 'd1' };
      },
      dispatch: async ({ event }) => seen.push(textOf(event)) > 0,
    }),
  });

describe('the consumer, with the official client against the sandbox hub', () => {
  it('starts at the earliest event when there is no checkpoint, and leaves bodies as the bytes they are', async () => {
    await send('{"big":12345678901234567890}', 'no JSON at all');
    const seen: string[] = [];
    const consumer = read('one', seen, createMemoryStore());
    await expect.poll(() => seen).toEqual(['{"big":12345678901234567890}', 'no JSON at all']);
    await expect.poll(() => consumer.missing()).toEqual([]);
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
      const reading = read('five', seen, failing, repeats);
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
});
