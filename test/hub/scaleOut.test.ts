import { inject } from 'iot-hub-emulator/testing';
import { describe, expect, it, vi } from 'vitest';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import type { Consumer } from '../../src/hub/reading/consumer.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createLog } from '../../src/observing/log.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { soon } from '../support/waiting.ts';
import { askFor, claimed } from './support/claims.ts';
import { consumersForEach, sharesOf, storeThrough, textOf, usualOpened } from './support/reading.ts';

cureHubSdks();

const hub = hubForAll({ partitions: 4, consumerGroups: ['joining', 'killed', 'hindered', 'slow'] });
const begin = consumersForEach();

/** A store that can be cut off from one instance, as the death of the instance would. */
function severable(store: CheckpointStore) {
  let isCut = false;
  return {
    store: storeThrough(store, (call) => (isCut ? Promise.reject(new Error('cut off')) : call())),
    cut() {
      isCut = true;
    },
  };
}

interface Instance {
  readonly consumer: Consumer;
  /** Partitions it has been given, newest last. */
  readonly seen: string[];
}

function enter(
  consumerGroup: string,
  store: CheckpointStore,
  handle: (text: string) => Promise<boolean>,
  log = createLog('silent'),
): Instance {
  const seen: string[] = [];
  const consumer = begin({
    ...{ access: hub.eventsConnectionString, consumerGroup, drainMs: 2_000, roundMs: 150 },
    ...{ balance: { expiryMs: 1_500, forceMs: 5_000 }, store, log },
    partition: () => ({
      ...usualOpened(),
      receivedMessageOf: (event: HubEvent) => ({ event, deviceId: String(event.properties?.['device']) }),
      async dispatch({ event }) {
        seen.push(textOf(event));
        return handle(textOf(event));
      },
      limits: { everyMessages: 20, everyMs: 200 },
    }),
  });
  return { consumer, seen };
}

let sent = 0;
/** Sends messages of twelve devices, each always to the same partition. */
async function send(count: number): Promise<string[]> {
  const texts = Array.from({ length: count }, () => {
    sent += 1;
    return `m${sent}`;
  });
  for (const [index, text] of texts.entries())
    await inject(hub, [text], { partition: index % 4, properties: { device: `d${index % 12}` } });
  return texts;
}

const briefly = () => new Promise<boolean>((resolve) => setTimeout(resolve, 1, true));

describe('several instances', () => {
  it('share four partitions two and two; a third joins and leaves, and no message is repeated', async () => {
    const store = createMemoryStore();
    const handled: string[] = [];
    const handle = async (text: string) => {
      await briefly();
      handled.push(text);
      return true;
    };
    const expected = await send(80);
    enter('joining', store, handle);
    enter('joining', store, handle);
    await expect.poll(() => sharesOf(store)).toEqual([2, 2]);
    expected.push(...(await send(200)));
    const third = enter('joining', store, handle);
    await expect.poll(() => sharesOf(store)).toEqual([1, 1, 2]);
    expected.push(...(await send(200)));
    await third.consumer.stop();
    expected.push(...(await send(100)));
    await expect.poll(() => sharesOf(store)).toEqual([2, 2]);
    await expect.poll(() => new Set(handled).size).toBe(expected.length);
    expect(handled).toHaveLength(expected.length);
  });

  it('take over the partitions of a dead instance, and miss no event', async () => {
    const store = createMemoryStore();
    const severed = severable(store);
    const handled: string[] = [];
    const old = enter('killed', severed.store, () => new Promise<boolean>(() => {}));
    await expect.poll(() => sharesOf(store)).toEqual([4]);
    await expect.poll(() => old.seen.length).toBeGreaterThan(0);
    severed.cut();
    const expected = new Set([...Array.from({ length: sent }, (_, index) => `m${index + 1}`), ...(await send(40))]);
    enter('killed', store, async (text) => {
      handled.push(text);
      return true;
    });
    await expect.poll(() => new Set(handled)).toEqual(expected);
    expect(await sharesOf(store)).toEqual([4]);
  });

  it('do not read a partition again that they released while another renewal was slow', async () => {
    const store = createMemoryStore();
    let slow = false;
    let renewals = 0;
    const lines: string[] = [];
    const slowed: CheckpointStore = {
      ...store,
      async change(seen, next) {
        if (slow && next.partition === '3' && next.owner !== '') {
          await vi.waitFor(async () => expect(await wisher()).toBe('ghost'), soon);
          renewals += 1;
        }
        return store.change(seen, next);
      },
    };
    const recordOf = async (partition: string) => (await store.ownerships()).find((one) => one.partition === partition);
    const wisher = async () => (await recordOf('0'))?.owner;
    enter('slow', slowed, briefly, createLog('info', { write: (line) => void lines.push(line) }));
    const readings = (of: string) => lines.filter((line) => line.includes('"reading partition"') && line.includes(of));
    await expect.poll(() => readings('')).toHaveLength(4);
    slow = true;
    await askFor(store);
    await vi.waitFor(async () => {
      const record = await recordOf('0');
      expect(record?.owner).toBe('');
      const next = { ...claimed('ghost', (record?.epoch ?? 0) + 1), renewedAt: Date.now() + 60_000 };
      expect(await store.change(record, next)).toBeDefined();
    }, soon);
    await expect.poll(() => renewals).toBeGreaterThan(2);
    expect(readings('"partition":"0"')).toHaveLength(1);
  });

  it('keep reading their partitions while another one cannot be opened', async () => {
    const store = createMemoryStore();
    const hindered: CheckpointStore = {
      ...store,
      progress: (partition) => (partition === '2' ? new Promise(() => {}) : store.progress(partition)),
    };
    enter('hindered', hindered, async () => true);
    await expect.poll(() => sharesOf(store)).toEqual([4]);
    const began = Date.now();
    const renewals = async () => (await store.ownerships()).map(({ renewedAt }) => renewedAt - began);
    await expect.poll(async () => Math.min(...(await renewals()))).toBeGreaterThan(2_000);
  });
});
