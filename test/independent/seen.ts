import type { EntryOf } from '../../iot-hub-emulator/src/journal/entry.ts';
import type { BackendCall } from '../../sandbox/backends/calls/calls.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';

/** What the service did for one device, in order: what it asked backends, and what it sent. */
export type Seen =
  | { readonly kind: 'call'; readonly call: SeenCall }
  | { readonly kind: 'reply'; readonly reply: EntryOf<'c2d'> };

export interface SeenCall extends BackendCall {
  readonly segments: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** All that the journal has of these devices. */
export function seenBy(
  sandbox: Sandbox,
  deviceIds: readonly string[],
): { courses: Map<string, Seen[]>; calls: SeenCall[] } {
  const { journal } = sandbox.hub;
  if (journal.first !== 1) throw new Error('the journal is too small for so many messages');
  const calls = sandbox.backends
    .calls()
    .filter(({ backend }) => backend !== 'token')
    .map(parsed);
  const all = [
    ...calls.map((call) => ({
      deviceId: call.deviceId,
      position: call.position,
      seen: { kind: 'call' as const, call },
    })),
    ...journal.list({ kind: 'c2d' }).map((reply) => ({
      ...{ deviceId: reply.deviceId, position: reply.position },
      seen: { kind: 'reply' as const, reply },
    })),
  ].sort((one, other) => one.position - other.position);
  const courses = new Map<string, Seen[]>(deviceIds.map((id) => [id, []]));
  for (const { deviceId, seen } of all) courses.get(deviceId ?? '')?.push(seen);
  return { courses, calls };
}

function parsed(call: BackendCall): SeenCall {
  const [path = '', query = ''] = call.path.split('?');
  return {
    ...call,
    segments: path.split('/').slice(1).map(decodeURIComponent),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}
