import { inject } from 'iot-hub-emulator/testing';
import { beforeEach, expect, it } from 'vitest';
import { hubForEach } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import type { Consumer } from '../../src/hub/reading/consumer.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createLog } from '../../src/observing/log.ts';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { consumersForEach, textOf, usualOpened } from './support/reading.ts';

cureHubSdks();

let lines: Record<string, unknown>[];
const hub = hubForEach({ partitions: 1, rules: { idle: { unusedConnection: 1_000, abandonedConnection: 1_000 } } });
beforeEach(() => (lines = []));
const start = consumersForEach();

function begin(seen: string[], store: CheckpointStore): Consumer {
  return start({
    access: hub.eventsConnectionString,
    store,
    log: createLog('info', { write: (line) => lines.push(JSON.parse(line)) }),
    partition: () => ({
      ...usualOpened(),
      async dispatch({ event }) {
        seen.push(textOf(event));
        return true;
      },
    }),
  });
}

it('an instance without partitions tolerates that the hub closes its connection, and takes over released partitions', async () => {
  const [first, second]: [string[], string[]] = [[], []];
  const store = createMemoryStore();
  const owner = begin(first, store);
  await inject(hub, ['one']);
  await expect.poll(() => first).toEqual(['one']);
  const standby = begin(second, store);
  const connections = () => hub.counters().connections.all;
  await expect.poll(connections).toBeGreaterThan(1);
  await expect.poll(connections).toBe(1); // the owner's
  await owner.stop();
  await inject(hub, ['two']);
  await expect.poll(() => second).toEqual(['two']);
  expect(standby.missing()).toEqual([]);
  await standby.stop();
  expect(lines.filter(({ level }) => level !== 'info')).toEqual([]);
});
