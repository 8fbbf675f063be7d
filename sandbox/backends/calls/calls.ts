import type { EntryOf, Journal, Kind } from 'iot-hub-emulator/journal';
import { type BackendName, backendNames } from './faults.ts';

type Undated<K extends Kind> = Omit<EntryOf<K>, 'time'>;

/** One call that a backend received, and what it answered. */
export interface BackendCall extends Omit<Undated<'http-request'>, 'kind' | 'server'> {
  readonly backend: BackendName;
  /** The status that was sent; null while there is none, and for ever when the answer was withheld. */
  readonly status: number | null;
  /** The body that was decided on, sent or not; null when there is none. */
  readonly answer: string | null;
}

/** An entry that a journal has of a call, or any other. */
export type CallEntry =
  | Undated<'http-request'>
  | Undated<'http-response'>
  | { readonly kind: Exclude<Kind, 'http-request' | 'http-response'> };

/** The calls of the backends among these entries, in order of arrival. */
export function callsIn(entries: readonly CallEntry[]): BackendCall[] {
  const answers = new Map(
    entries.flatMap((entry) => (entry.kind === 'http-response' ? [[entry.request, entry] as const] : [])),
  );
  return entries.flatMap((entry): BackendCall[] => {
    if (entry.kind !== 'http-request') return [];
    const { kind: _, server, ...call } = entry;
    const backend = backendNames.find((name) => name === server);
    const { status = null, body = null } = answers.get(entry.position) ?? {};
    return backend ? [{ ...call, backend, status, answer: body }] : [];
  });
}

/** Which calls: those after `since` (a position in the journal), of one device. */
export interface CallFilter {
  readonly since?: number;
  readonly deviceId?: string;
}

/** Records a call in the journal; the returned function records its answer. */
export function recordCall(
  journal: Journal,
  call: Omit<EntryOf<'http-request'>, 'kind' | 'position' | 'time'>,
): (status: number | null, body: string | null) => void {
  const { position } = journal.add({ kind: 'http-request', ...call });
  const { server, deviceId, correlationId } = call;
  return (status, body) => {
    journal.add({ kind: 'http-response', server, deviceId, correlationId, request: position, status, body });
  };
}
