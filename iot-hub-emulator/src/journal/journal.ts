import { bounds } from '../limits/bounds.ts';
import { sizeOf } from '../values/size.ts';
import { type EntryOf, type JournalEntry, type JournalEvent, type JournalFilter, type Kind, passes } from './entry.ts';

/** What happened, as data, in order. The oldest entries go when it is full. */
export interface Journal {
  add(event: JournalEvent): JournalEntry;
  /** The entries that the journal still has, in order. */
  list<K extends Kind = Kind>(filter?: JournalFilter<K>): EntryOf<K>[];
  /** The entry at a position; none where there is none yet, or none any more. */
  at(position: number): JournalEntry | undefined;
  /** Position of the oldest entry that is kept; `last` + 1 when none is. */
  readonly first: number;
  /** Position of the latest entry; 0 before there is one. */
  readonly last: number;
  /** Call `listener` with every entry from now on; the answer ends it. */
  watch(listener: (entry: JournalEntry) => void): () => void;
  /**
   * The first entry that passes: one that the journal still has, or the next one. Rejects with the signal's reason when that ends
   * the waiting.
   */
  next<K extends Kind = Kind>(filter?: JournalFilter<K>, signal?: AbortSignal): Promise<EntryOf<K>>;
}

export interface JournalOptions {
  /** Most bytes that it keeps, as `sizeOf` counts; default `bounds.journal`. The latest entry is kept, whatever its size. */
  readonly bytes?: number;
  /** The time in milliseconds since 1970; default the system clock. */
  readonly now?: () => number;
}

/** A journal in memory. */
export function createJournal({ bytes: most = bounds.journal, now = Date.now }: JournalOptions = {}): Journal {
  const listeners = new Set<(entry: JournalEntry) => void>();
  let entries: (JournalEntry | undefined)[] = [];
  let sizes: number[] = [];
  let gone = 0; // of these, at their start
  let bytes = 0;
  let last = 0;
  const firstKept = () => last - (entries.length - gone) + 1;

  /** Let the oldest go until the rest has room. */
  const shrink = (): void => {
    for (; bytes > most && gone < entries.length - 1; gone += 1) {
      bytes -= sizes[gone] ?? 0;
      entries[gone] = undefined;
    }
    if (gone < 1024 || gone * 2 < entries.length) return;
    entries = entries.slice(gone);
    sizes = sizes.slice(gone);
    gone = 0;
  };

  const at = (position: number): JournalEntry | undefined => entries[gone + position - firstKept()];

  function* kept<K extends Kind>(filter: JournalFilter<K>): Generator<EntryOf<K>, undefined> {
    for (let position = Math.max((filter.since ?? 0) + 1, firstKept()); position <= last; position += 1) {
      const entry = at(position);
      if (entry && passes(filter, entry)) yield entry;
    }
  }

  const watch = (listener: (entry: JournalEntry) => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

  return {
    add(event) {
      last += 1;
      const entry: JournalEntry = Object.assign(event, { position: last, time: now() });
      const size = sizeOf(entry);
      entries.push(entry);
      sizes.push(size);
      bytes += size;
      if (bytes > most) shrink();
      for (const listener of listeners) listener(entry);
      return entry;
    },
    list<K extends Kind = Kind>(filter: JournalFilter<K> = {}) {
      return [...kept(filter)];
    },
    at,
    get first() {
      return firstKept();
    },
    get last() {
      return last;
    },
    watch,
    next<K extends Kind = Kind>(filter: JournalFilter<K> = {}, signal?: AbortSignal) {
      return new Promise<EntryOf<K>>((resolve, reject) => {
        signal?.throwIfAborted();
        const found = kept(filter).next().value;
        if (found) return resolve(found);
        const end = (): void => {
          unwatch();
          signal?.removeEventListener('abort', abort);
        };
        const abort = (): void => {
          end();
          reject(signal?.reason);
        };
        const unwatch = watch((entry) => {
          if (entry.position <= (filter.since ?? 0) || !passes(filter, entry)) return;
          end();
          resolve(entry);
        });
        signal?.addEventListener('abort', abort);
      });
    },
  };
}
