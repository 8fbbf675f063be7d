/** The rules of a queue. */
export interface QueueRules {
  /** How long a message may wait, when it says nothing itself, in milliseconds. */
  timeToLiveMs: number;
  /** How long a receiver has to settle a message before it is available again, in milliseconds. */
  lockMs: number;
  /** How many deliveries are counted before a message leaves the queue; what counts is an abandoned one. */
  deliveries: number;
}

/** How a receiver settles a message; an abandoned one is available again. Too late, when the lock is lost, nothing comes of it. */
export type Settlement = 'complete' | 'reject' | 'abandon';

/** A message as it is handed to a receiver. */
export interface Handed<T> {
  item: T;
  /** 1 until it is abandoned, then one more each time: a lost lock or connection does not count. */
  deliveryCount: number;
  /** It was handed out before. */
  again: boolean;
  settle(how: Settlement): void;
}

/** How a message leaves the queue. */
export type QueueOutcome = 'completed' | 'rejected' | 'expired' | 'undeliverable';

/** A receiver: what hands it a message, and whether it takes any at the moment. */
export interface Taker<T> {
  take(handed: Handed<T>): void;
  hasRoom?(): boolean;
}

/** What became of a message while it was in the queue. */
export interface Past {
  /** How often it was abandoned. */
  abandoned: number;
  /** It was handed out. */
  handed: boolean;
}

/** A queue whose messages are locked while a receiver has them and leave it when they are settled. */
export interface LockedQueue<T> {
  /** `expiresAt` in milliseconds since 1970; absent: the time to live from now. `past`: what it has behind it. */
  add(item: T, expiresAt?: number, past?: Past): void;
  /**
   * A receiver gets what is available, in order, then each message as it comes. Several take turns. The answer ends it;
   * what it had and did not settle is available again.
   */
  open(taker: Taker<T>): () => void;
  /** Hand out what there is: a receiver has room again. */
  flush(): void;
  /** All messages in the queue, locked ones included, oldest first. */
  items(): T[];
  /** Forget all messages. The answer is what they were. */
  clear(): T[];
  /** Nothing happens by itself any more. */
  close(): void;
}

interface Entry<T> extends Past {
  item: T;
  expiresAt: number;
  /** Who has it, until when. */
  lock: { taker: Taker<T>; until: number } | undefined;
}

const maxTimerMs = 2 ** 31 - 1;
const fresh: Past = { abandoned: 0, handed: false };

/** A queue in memory. `onOutcome` is told of each message that leaves it, but for `clear`. */
export function createLockedQueue<T>(options: {
  rules: QueueRules;
  now: () => number;
  onDelivery?: (item: T, deliveryCount: number) => void;
  /** Called with what must be known of a message to go on with it later, whenever that changes. */
  onChange?: (item: T, past: Past) => void;
  onOutcome: (item: T, outcome: QueueOutcome) => void;
  /** Most bytes in the queue, and what an item counts: the oldest expire to make room. Any number when absent. */
  bound?: { bytes: number; of: (item: T) => number };
}): LockedQueue<T> {
  const { rules, now, onDelivery, onChange, onOutcome, bound } = options;
  const entries: Entry<T>[] = [];
  const takers: Taker<T>[] = [];
  let timer: NodeJS.Timeout | undefined;

  const remove = (entry: Entry<T>, outcome: QueueOutcome): void => {
    const at = entries.indexOf(entry);
    if (at < 0) return;
    entries.splice(at, 1);
    onOutcome(entry.item, outcome);
  };

  /** Take back what is locked for too long, drop what is too old or was abandoned too often. */
  const sweep = (): void => {
    for (const entry of [...entries]) {
      if (entry.lock && entry.lock.until <= now()) entry.lock = undefined;
      if (entry.lock) continue;
      if (entry.expiresAt <= now()) remove(entry, 'expired');
      else if (entry.abandoned >= rules.deliveries) remove(entry, 'undeliverable');
    }
  };

  const makeRoom = (): void => {
    if (!bound) return;
    let bytes = entries.reduce((sum, { item }) => sum + bound.of(item), 0);
    for (const entry of [...entries]) {
      if (bytes <= bound.bytes) return;
      bytes -= bound.of(entry.item);
      remove(entry, 'expired');
    }
  };

  const nextTaker = (): Taker<T> | undefined => {
    const at = takers.findIndex(({ hasRoom }) => hasRoom?.() ?? true);
    const [taker] = at < 0 ? [] : takers.splice(at, 1);
    if (taker) takers.push(taker);
    return taker;
  };

  const hand = (entry: Entry<T>, taker: Taker<T>): void => {
    const lock = { taker, until: now() + rules.lockMs };
    entry.lock = lock;
    const { item, handed: again } = entry;
    const deliveryCount = entry.abandoned + 1;
    entry.handed = true;
    if (!again) onChange?.(item, entry);
    onDelivery?.(item, deliveryCount);
    taker.take({
      item,
      deliveryCount,
      again,
      settle(how) {
        if (entry.lock !== lock || lock.until <= now()) return;
        if (how === 'complete') remove(entry, 'completed');
        else if (how === 'reject') remove(entry, 'rejected');
        else {
          entry.lock = undefined;
          entry.abandoned += 1;
          onChange?.(item, entry);
          flush();
        }
      },
    });
  };

  const flush = (): void => {
    sweep();
    for (const entry of [...entries]) {
      if (entry.lock || !entries.includes(entry)) continue;
      const taker = nextTaker();
      if (!taker) break;
      hand(entry, taker);
    }
    schedule();
  };

  const schedule = (): void => {
    clearTimeout(timer);
    const next = Math.min(...entries.map(({ lock, expiresAt }) => lock?.until ?? expiresAt));
    if (entries.length > 0) timer = setTimeout(flush, Math.min(Math.max(next - now(), 1), maxTimerMs)).unref();
  };

  return {
    add(item, expiresAt = now() + rules.timeToLiveMs, { abandoned, handed } = fresh) {
      entries.push({ item, expiresAt, abandoned, handed, lock: undefined });
      makeRoom();
      flush();
    },
    open(taker) {
      takers.push(taker);
      flush();
      return () => {
        const at = takers.indexOf(taker);
        if (at < 0) return;
        takers.splice(at, 1);
        for (const entry of entries) if (entry.lock?.taker === taker) entry.lock = undefined;
        flush();
      };
    },
    flush,
    items() {
      sweep();
      return entries.map(({ item }) => item);
    },
    clear() {
      clearTimeout(timer);
      return entries.splice(0).map(({ item }) => item);
    },
    close: () => clearTimeout(timer),
  };
}
