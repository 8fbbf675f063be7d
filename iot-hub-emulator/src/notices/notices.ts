import type { HubCore } from '../core/core.ts';
import type { Identity } from '../identity/registry.ts';
import type { JsonObject } from '../values/json.ts';
import { appendNotice, type NoticeSource } from './notice.ts';
import { changedPart, wholeTwin } from './twinBody.ts';

const opTypes = { connected: 'deviceConnected', disconnected: 'deviceDisconnected' } as const;

/** Let the hub send events of its own: those of `sources`. The answer ends it. */
export function announce(hub: HubCore, sources: readonly NoticeSource[]): () => void {
  const { name, registry, twins, journal, events, now } = hub;
  const nextNumber = createSequence(now());

  type About = Pick<Identity, 'deviceId' | 'moduleId'>;
  const tell = (source: NoticeSource, opType: string, about: About, body: JsonObject) =>
    appendNotice({ source, about, opType, body }, name, events, now());
  const ends: (() => void)[] = [];

  if (sources.includes('deviceLifecycleEvents')) {
    const lifecycle = 'deviceLifecycleEvents';
    registry.watch((change, identity) => {
      if (change !== 'created') return;
      tell(lifecycle, 'createDeviceIdentity', identity, wholeTwin(identity, twins.get(identity.clientId)));
    });
    twins.onChange(({ kind, identity, twin }) => {
      if (kind === 'deleted') tell(lifecycle, 'deleteDeviceIdentity', identity, wholeTwin(identity, twin));
    });
  }
  if (sources.includes('twinChangeEvents'))
    twins.onChange((change) => {
      const { kind, identity, twin } = change;
      if (kind === 'replaced') tell('twinChangeEvents', 'replaceTwin', identity, wholeTwin(identity, twin));
      else if (kind === 'updated') tell('twinChangeEvents', 'updateTwin', identity, changedPart(change));
    });
  if (sources.includes('deviceConnectionStateEvents'))
    ends.push(
      journal.watch((entry) => {
        if (entry.kind !== 'connected' && entry.kind !== 'disconnected') return;
        const about = { deviceId: entry.deviceId, moduleId: entry.moduleId };
        tell('deviceConnectionStateEvents', opTypes[entry.kind], about, { sequenceNumber: nextNumber() });
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
