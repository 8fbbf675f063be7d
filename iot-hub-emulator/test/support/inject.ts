import { stableHash } from '../../src/events/events.ts';
import type { Hub } from '../../src/hub.ts';

/** The id of a device of this hub whose events come to this partition; it is added if need be. */
function deviceIn(hub: Hub, partition: number): string {
  for (let number = 0; ; number++) {
    const deviceId = `sender-${number}`;
    if (stableHash(deviceId) % hub.partitions.length !== partition) continue;
    if (!hub.registry.get(deviceId)) hub.registry.create(deviceId);
    return deviceId;
  }
}

/** Events with these bodies in a partition, in this order, as a device sends them: by the contract of the admin port. */
export async function inject(
  hub: Hub,
  bodies: readonly string[],
  { partition = 0, properties = {} }: { partition?: number; properties?: Record<string, string> } = {},
): Promise<void> {
  const deviceId = deviceIn(hub, partition);
  for (const body of bodies) await hub.faults.strike({ kind: 'burst', events: 1, deviceId, body, properties });
}
