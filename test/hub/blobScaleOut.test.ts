import { inject } from 'iot-hub-emulator/testing';
import { expect, it } from 'vitest';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import type { Consumer } from '../../src/hub/reading/consumer.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import { createBlobStore } from '../../src/stores/blobCheckpoints.ts';
import { storageForAll } from '../support/storageAccount.ts';
import { consumersForEach, sharesOf, textOf, usualOpened } from './support/reading.ts';

cureHubSdks();

const storage = storageForAll();
const hub = hubForAll({ partitions: 4, consumerGroups: ['shared'] });
const begin = consumersForEach();

/** Each instance has a client of its own, as processes have. */
const openStore = () =>
  createBlobStore({
    ...{ account: storage.connectionString, container: 'checkpoints', namespace: 'localhost', hub: 'sandbox' },
    consumerGroup: 'shared',
  });

function enter(handled: string[]): Consumer {
  return begin({
    ...{ access: hub.eventsConnectionString, consumerGroup: 'shared', drainMs: 2_000, roundMs: 150 },
    ...{ balance: { expiryMs: 10_000, forceMs: 20_000 }, store: openStore() },
    partition: () => ({
      ...usualOpened(),
      receivedMessageOf: (event: HubEvent) => ({ event, deviceId: String(event.properties?.['device']) }),
      async dispatch({ event }) {
        handled.push(textOf(event));
        return true;
      },
      limits: { everyMessages: 10, everyMs: 100 },
    }),
  });
}

async function send(texts: readonly string[]) {
  for (const [index, text] of texts.entries())
    await inject(hub, [text], { partition: index % 4, properties: { device: `d${index % 4}` } });
}

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}`);

it('two instances over one storage account share the partitions, release them, and handle each message once', async () => {
  const handled: string[] = [];
  const expected = [...numbered('alone', 40), ...numbered('shared', 40), ...numbered('left', 40)];

  enter(handled);
  await send(expected.slice(0, 40));
  await expect.poll(() => sharesOf(openStore())).toEqual([4]);

  const second = enter(handled);
  await expect.poll(() => sharesOf(openStore())).toEqual([2, 2]);
  await send(expected.slice(40, 80));
  await expect.poll(() => handled).toHaveLength(80);

  await second.stop();
  await send(expected.slice(80));
  await expect.poll(() => sharesOf(openStore())).toEqual([4]);
  await expect.poll(() => handled.length).toBeGreaterThanOrEqual(expected.length);
  expect(handled.sort()).toEqual(expected.sort());
});
