import { describe, expect, it, vi } from 'vitest';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createLog } from '../../src/observing/log.ts';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { soon } from '../support/waiting.ts';
import { askFor, claimed } from './support/claims.ts';
import { consumersForEach, usualOpened } from './support/reading.ts';

cureHubSdks();

const hub = hubForAll({ partitions: 4, consumerGroups: ['hindered', 'slow'] });
const begin = consumersForEach();

function enter(consumerGroup: string, store: CheckpointStore, log = createLog('silent')): void {
  begin({
    ...{ access: hub.eventsConnectionString, consumerGroup, drainMs: 2_000, roundMs: 150 },
    ...{ balance: { expiryMs: 1_500, forceMs: 5_000 }, store, log },
    partition: () => ({ ...usualOpened(), dispatch: async () => true }),
  });
}

describe('several instances', () => {
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
    enter('slow', slowed, createLog('info', { write: (line) => void lines.push(line) }));
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
    enter('hindered', hindered);
    const owners = async () => (await store.ownerships()).map(({ owner }) => owner);
    await expect.poll(async () => [(await owners()).length, new Set(await owners()).size]).toEqual([4, 1]);
    const began = Date.now();
    const renewals = async () => (await store.ownerships()).map(({ renewedAt }) => renewedAt - began);
    await expect.poll(async () => Math.min(...(await renewals()))).toBeGreaterThan(2_000);
  });
});
