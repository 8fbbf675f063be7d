import { folderOfId } from './deadLetter.ts';
import type { Entry } from './place.ts';

export interface DeadLetterLimits {
  /** Most dead letters of one device, and of all. */
  readonly deviceLetters: number;
  readonly maxLetters: number;
  /** Most bytes of all dead letters together. */
  readonly maxBytes: number;
  /** Older dead letters are deleted. */
  readonly retentionMs: number;
}

/**
 * The content of the store as this process knows it, so that parking needs no listing. It never exceeds the limits: its
 * verbs return the ids that must be deleted. The cost of an entry does not depend on their number.
 */
export interface DeadLetterIndex {
  /** @returns ids of dead letters to delete, the oldest first */
  add(entry: Entry): string[];
  drop(id: string): void;
  get(id: string): Entry | undefined;
  /** Replaces all entries. @returns as `add` */
  fill(entries: readonly Entry[]): string[];
  size(): number;
}

export function createDeadLetterIndex(limits: DeadLetterLimits, now: () => number): DeadLetterIndex {
  /** In the order of parking. */
  let entries = new Map<string, Entry>();
  /** Passes each entry once: an entry before `head` has been dropped. */
  let onwards = entries.values();
  let head: Entry | undefined;
  /** Ids of each device, in hub order. */
  const devices = new Map<string, string[]>();
  let bytes = 0;

  function oldest(): Entry | undefined {
    if (entries.size === 0) return undefined;
    while (head === undefined || entries.get(head.id) !== head) {
      const { done, value } = onwards.next();
      if (done)
        onwards = entries.values(); // entries were added after the iterator ended
      else head = value;
    }
    return head;
  }

  function put(entry: Entry): string[] {
    drop(entry.id);
    entries.set(entry.id, entry);
    bytes += entry.bytes;
    const folder = folderOfId(entry.id);
    const own = devices.get(folder) ?? [];
    if (own.length === 0) devices.set(folder, own);
    own.splice(placeOf(entry.id, own), 0, entry.id);
    return own;
  }

  function drop(id: string): void {
    const entry = entries.get(id);
    if (entry === undefined) return;
    entries.delete(id);
    bytes -= entry.bytes;
    const own = devices.get(folderOfId(id)) ?? [];
    own.splice(placeOf(id, own), 1);
    if (own.length === 0) devices.delete(folderOfId(id));
  }

  /** @param own ids of a device; @param added the id that must stay */
  function beyondQuota(own: readonly string[], added?: string): string[] {
    const excess = Math.max(own.length - limits.deviceLetters, 0);
    return own
      .slice(0, excess + 1)
      .filter((id) => id !== added)
      .slice(0, excess);
  }

  const isOutdated = ({ at }: Entry) => now() - at > limits.retentionMs;
  const isTooMuch = () => entries.size > limits.maxLetters || bytes > limits.maxBytes;

  function takeExcess(): string[] {
    const taken: string[] = [];
    for (let entry = oldest(); entry !== undefined && (isTooMuch() || isOutdated(entry)); entry = oldest()) {
      drop(entry.id);
      taken.push(entry.id);
    }
    return taken;
  }

  return {
    add(entry) {
      const excess = beyondQuota(put(entry), entry.id);
      for (const id of excess) drop(id);
      return [...excess, ...takeExcess()];
    },
    drop,
    get: (id) => entries.get(id),
    fill(found) {
      entries = new Map();
      onwards = entries.values();
      head = undefined;
      devices.clear();
      bytes = 0;
      for (const entry of [...found].sort((a, b) => a.at - b.at)) put(entry);
      const excess = [...devices.values()].flatMap((own) => beyondQuota(own));
      for (const id of excess) drop(id);
      return [...excess, ...takeExcess()];
    },
    size: () => entries.size,
  };
}

/** The position of the id among sorted ids, or the one at which to insert it. */
function placeOf(id: string, sorted: readonly string[]): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as string) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
