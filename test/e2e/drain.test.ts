import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Device } from '../../sandbox/device/device.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { withConstants } from '../support/processes.ts';
import { sandboxForAll } from './testSandbox.ts';

// The service is told to stop in the middle of its work, as an orchestrator does it.

// Only the stop itself writes checkpoints: it comes before the hundredth message of a partition.
const sandbox = sandboxForAll({ environment: withConstants({ timing: { checkpointSeconds: 3600 } }) });
let devices: Device[];
beforeAll(async () => {
  devices = await Promise.all(['pump-1', 'pump-2', 'gateway-1', 'rival-1'].map((id) => sandbox.connect(id)));
});
afterAll(async () => {
  await Promise.all((devices ?? []).map((device) => device.close()));
});

const perDevice = 75;
const key = (id: string) => Buffer.from(JSON.stringify({ publicKey: id }));

/** What a device hears until it has heard `count` things. */
async function hear(device: Device, count: number): Promise<string[]> {
  const heard: string[] = [];
  while (heard.length < count) {
    const reply = await device.next(120_000);
    if (reply === undefined) break;
    heard.push(reply.properties['correlationId'] ?? '');
  }
  return heard;
}

const changes = () =>
  sandbox.backends.calls().filter(({ method, backend }) => backend === 'principalManager' && method === 'PUT');

it('A service that gets SIGTERM during work finishes the messages in progress, exits with 0, and the next one repeats none', async () => {
  sandbox.backends.faults.add({ backend: 'principalManager', method: 'PUT', delayMs: 40 });
  const hearing = devices.map((device) => hear(device, perDevice));
  await Promise.all(
    devices.map(async (device) => {
      for (let index = 0; index < perDevice; index += 1) {
        const id = `${device.id} ${index}`;
        await device.send(envelope('identity.update', id), key(id));
      }
    }),
  );
  await expect.poll(() => changes().length).toBeGreaterThan(40);
  await sandbox.service?.stop();
  expect(await sandbox.service?.exited).toMatchObject({ code: 0 });
  const before = changes().length;
  expect(before).toBeLessThan(devices.length * perDevice);

  await sandbox.startService();
  for (const [index, heard] of (await Promise.all(hearing)).entries()) {
    expect(heard).toEqual(Array.from({ length: perDevice }, (_, each) => `${devices[index]?.id} ${each}`));
  }
  expect(changes()).toHaveLength(devices.length * perDevice);
});
