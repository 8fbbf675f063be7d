import { folderOfId } from './deadLetter.ts';
import type { Entry } from './place.ts';

export interface DeadLetterLimits {
  /** Most dead letters of one device, and of all. */
  readonly deviceLetters: number;
  readonly maxLetters: number;
  /** Most bytes of all dead letters together. */
  readonly maxBytes: number;
  /** Dead letters that are older are deleted. */
  readonly retentionMs: number;
}

/**
 * What lies in the store as far as this process knows, so that parking a dead letter need not look. It never holds more than
 * the limits allow: whatever goes beyond them is handed out, to be deleted. A dead letter costs the same however many there are.
 */
export interface DeadLetterIndex {
  /** @returns the ids of dead letters that have to make room, the oldest first */
  add(entry: Entry): string[];
  drop(id: string): void;
  get(id: string): Entry | undefined;
  /** Begins anew with these; returns as `add` does. */
  fill(entries: readonly Entry[]): string[];
  size(): number;
}

export function createDeadLetterIndex(limits: DeadLetterLimits, now: () => number): DeadLetterIndex {
  /** In the order in which they were parked. */
  let entries = new Map<string, Entry>();
  /** Goes through the entries only once: what it has passed and `head` is not, is gone. */
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
        onwards = entries.values(); // new ones have come since it came to its end
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

  /** @param own a device's dead letters; @param added the one for which the others make room */
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

/** Where the id stands among sorted ones, or would stand. */
function placeOf(id: string, sorted: readonly string[]): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as string) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
