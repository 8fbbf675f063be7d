import { createHmac } from 'node:crypto';
import type { SandboxState } from '../state/state.ts';

/**
 * Registers a device with the hub and the principal manager, as an administrator would before its first boot. `isNew` says
 * whether one of them had not known it. Rejects when the hub does not take such an id.
 */
export async function registerDevice(
  deviceId: string,
  { hub, backends }: SandboxState,
): Promise<{ connectionString: string; isNew: boolean }> {
  const known = hub.devices[deviceId];
  if (known) return { connectionString: known, isNew: false };
  const key = createHmac('sha256', hub.deviceKeySecret).update(deviceId).digest('base64');
  const atHub = await post(hub.adminUrl, { deviceId, primaryKey: key });
  const atPrincipalManager = await post(backends.adminUrl, { deviceId });
  return { connectionString: likeOthers(hub.devices, deviceId, key), isNew: atHub || atPrincipalManager };
}

/** Whether the device is new there. */
async function post(adminUrl: string, device: { deviceId: string; primaryKey?: string }): Promise<boolean> {
  const response = await fetch(new URL('/devices', adminUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(device),
  });
  const answer = await response.text();
  if (response.status === 409 || response.ok) return response.status === 201;
  throw new Error(`The sandbox does not take ${JSON.stringify(device.deviceId)} as a device: ${answer.trim()}`);
}

/** A connection string that differs from those of the other devices in id and key only. */
function likeOthers(others: Readonly<Record<string, string>>, deviceId: string, key: string): string {
  const [pattern = ''] = Object.values(others);
  return pattern
    .replace(/(?<=^|;)DeviceId=[^;]*/, () => `DeviceId=${deviceId}`)
    .replace(/(?<=^|;)SharedAccessKey=[^;]*/, () => `SharedAccessKey=${key}`);
}
