import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeDeviceEvent } from '../../iot-hub-emulator/src/events/deviceEvent.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import type { Sent } from './model/steps.ts';

/** The built service, its hub and the reference backends, with these devices; `close` ends them. */
export async function openProof(deviceIds: readonly string[]) {
  const directory = await mkdtemp(join(tmpdir(), 'independent-'));
  let sandbox: Sandbox | undefined;
  const close = async () => {
    await sandbox?.close();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    sandbox = await startSandbox({ directory });
    for (const deviceId of deviceIds) {
      sandbox.hub.registry.create(deviceId, {});
      await register(sandbox.backends.adminUrl, deviceId);
    }
    return { sandbox, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** With two identities below it. */
async function register(adminUrl: string, deviceId: string): Promise<void> {
  const response = await fetch(new URL('/devices', adminUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ deviceId, children: ['edge', 'edge/mine'] }),
  });
  if (!response.ok) throw new Error(`the principal manager does not take ${deviceId}: ${await response.text()}`);
}

/** As the hub takes a message of a device: all of a device go to one partition, in this order. */
export function send({ hub }: Sandbox, deviceId: string, place: number, messages: readonly Sent[]): void {
  const identity = hub.registry.get(deviceId);
  const partition = hub.partitions[place % hub.partitions.length];
  if (identity === undefined || partition === undefined) throw new Error(`the hub has no device ${deviceId}`);
  const login = { identity, authMethod: '{"scope":"device","type":"sas","issuer":"iothub"}', expiresAt: 0 };
  for (const { properties, body } of messages)
    partition.append((at) => encodeDeviceEvent(login, { system: {}, properties: { ...properties }, body }, at));
}

/** Resolves when each device has got a reply with this correlation id. */
export function answered({ hub }: Sandbox, deviceIds: readonly string[], correlationId: string): Promise<void> {
  const left = new Set(deviceIds);
  return new Promise((resolve) => {
    const end = hub.journal.watch((entry) => {
      if (entry.kind !== 'c2d' || entry.correlationId !== correlationId) return;
      left.delete(entry.deviceId);
      if (left.size > 0) return;
      end();
      resolve();
    });
  });
}
