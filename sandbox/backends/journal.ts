import type { BackendName } from './faults.ts';

/** One call that a backend received. */
export interface JournalEntry {
  /** Counts from 1 in order of arrival. */
  readonly sequence: number;
  /** When it arrived, UTC. */
  readonly at: string;
  readonly backend: BackendName;
  /** The decoded `x-svc-device-id`. */
  readonly deviceId: string | undefined;
  readonly method: string;
  /** Path and query as sent, still percent-encoded. */
  readonly path: string;
  /** The headers that matter, as sent. Never `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body's text as sent; empty when there was none. */
  readonly body: string;
  /** The status that was sent; null while there is none, and for ever when the answer was withheld. */
  status: number | null;
  /** The body that was decided on, sent or not; null when there is none. */
  answer: string | null;
  /** Id of the fault that struck the call. */
  fault?: string;
}

/** Which entries: those after `since` (a sequence number), of one device. */
export interface JournalFilter {
  since?: number;
  deviceId?: string;
}

/** The calls of all backends in order of arrival; only the latest `limit` are kept. */
export function createJournal(limit: number) {
  const entries = new Map<number, JournalEntry>();
  let last = 0;
  return {
    /** Opens an entry; the one who answers fills in the rest. */
    open(arrival: Omit<JournalEntry, 'sequence' | 'at' | 'status' | 'answer'>): JournalEntry {
      const entry = { sequence: ++last, at: new Date().toISOString(), ...arrival, status: null, answer: null };
      entries.set(entry.sequence, entry);
      entries.delete(last - limit);
      return entry;
    },
    entries: ({ since = 0, deviceId }: JournalFilter = {}): JournalEntry[] =>
      [...entries.values()].filter((e) => e.sequence > since && (deviceId === undefined || e.deviceId === deviceId)),
    /** Sequence number of the latest entry; hand it to `entries` as `since` later. */
    get last(): number {
      return last;
    },
    clear: () => entries.clear(),
  };
}

export type Journal = ReturnType<typeof createJournal>;
