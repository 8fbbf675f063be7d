import { encodeDeviceEvent } from 'iot-hub-emulator/testing';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Sent } from './model/steps.ts';

/** Makes a device known to the hub, and to the principal manager with two identities below it. */
export async function register({ hub, backends }: Sandbox, deviceId: string): Promise<void> {
  hub.registry.create(deviceId, {});
  const response = await fetch(new URL('/devices', backends.adminUrl), {
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
