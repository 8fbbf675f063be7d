import type { Client } from 'azure-iothub';
import { startHub } from 'iot-hub-emulator';
import { expect, it, vi } from 'vitest';
import { serviceClient } from '../../iot-hub-emulator/test/support/clients.ts';
import { createServiceConnection } from '../../src/hub/replies/replies.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { silence, untold } from './support/replying.ts';

cureHubSdks();

it('a new connection is opened at once when the hub has closed an unused one, but not repeatedly', async () => {
  const hub = await startHub({ rules: { idle: { unusedConnection: 1_000 } } });
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const clients: Client[] = [];
  const connection = createServiceConnection({
    newClient() {
      const client = serviceClient(hub);
      clients.push(client);
      return client;
    },
    answerWithinMs: 20_000,
    log: silence,
    troubles: untold,
  });
  const closings = () => clients.length;
  try {
    await connection.open();
    now = 30_000;
    // time stands still for the connection: one that would wait two seconds would wait for ever
    await expect.poll(closings).toBe(2);
    await expect.poll(connection.isOpen).toBe(true);
    await expect.poll(connection.isOpen).toBe(false);
    // a connection that is opened at once has been opened when a later timer fires
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(closings()).toBe(2);
    now = 60_000;
    await expect.poll(closings).toBe(3);
  } finally {
    vi.restoreAllMocks();
    await connection.close();
    await hub.close();
  }
});
