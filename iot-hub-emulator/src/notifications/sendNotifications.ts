import type { HubCore } from '../core/core.ts';
import type { Identity } from '../identity/registry.ts';
import type { JsonObject } from '../values/json.ts';
import { appendNotification, type NotificationSource } from './hubNotification.ts';
import { changedPart, wholeTwin } from './twinBody.ts';

const opTypes = { connected: 'deviceConnected', disconnected: 'deviceDisconnected' } as const;

/** Append the hub's own events to the partitions: those of `sources`. The answer ends it. */
export function sendNotifications(hub: HubCore, sources: readonly NotificationSource[]): () => void {
  const { name, registry, twins, journal, events, now } = hub;
  const nextNumber = createSequence(now());

  type About = Pick<Identity, 'deviceId' | 'moduleId'>;
  const append = (source: NotificationSource, opType: string, about: About, body: JsonObject) =>
    appendNotification({ source, about, opType, body }, name, events, now());
  const ends: (() => void)[] = [];

  if (sources.includes('deviceLifecycleEvents')) {
    const lifecycle = 'deviceLifecycleEvents';
    registry.watch((change, identity) => {
      if (change !== 'created') return;
      append(lifecycle, 'createDeviceIdentity', identity, wholeTwin(identity, twins.get(identity.clientId)));
    });
    twins.onChange(({ kind, identity, twin }) => {
      if (kind === 'deleted') append(lifecycle, 'deleteDeviceIdentity', identity, wholeTwin(identity, twin));
    });
  }
  if (sources.includes('twinChangeEvents'))
    twins.onChange((change) => {
      const { kind, identity, twin } = change;
      if (kind === 'replaced') append('twinChangeEvents', 'replaceTwin', identity, wholeTwin(identity, twin));
      else if (kind === 'updated') append('twinChangeEvents', 'updateTwin', identity, changedPart(change));
    });
  if (sources.includes('deviceConnectionStateEvents'))
    ends.push(
      journal.watch((entry) => {
        if (entry.kind !== 'connected' && entry.kind !== 'disconnected') return;
        const about = { deviceId: entry.deviceId, moduleId: entry.moduleId };
        append('deviceConnectionStateEvents', opTypes[entry.kind], about, { sequenceNumber: nextNumber() });
      }),
    );
  return () => {
    for (const end of ends) end();
  };
}

/** Texts of 64 hexadecimal digits, each greater than the last one, also than those of a hub that ran earlier. */
function createSequence(startedAt: number): () => string {
  const ticks = (BigInt(startedAt) + 11_644_473_600_000n) * 10_000n; // of 100 ns since 1601
  let count = 0;
  return () => {
    count += 1;
    return ticks.toString(16).padStart(32, '0') + count.toString(16).padStart(32, '0');
  };
}
