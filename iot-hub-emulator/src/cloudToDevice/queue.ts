import { randomUUID } from 'node:crypto';

/** The rules of a queue. */
export interface QueueRules {
  /** How long a message may wait, when it says nothing itself, in milliseconds. */
  timeToLiveMs: number;
  /** How long a receiver has to settle a message before it is available again, in milliseconds. */
  lockMs: number;
  /** How many deliveries are counted before a message leaves the queue; what counts is an abandoned one. */
  deliveries: number;
}

/** How a receiver settles a message; an abandoned one is available again. It has no effect once the lock is lost. */
export type Settlement = 'complete' | 'reject' | 'abandon';

/** A message as it is delivered to a receiver, for which it is locked until it is settled. */
export interface LockedItem<T> {
  item: T;
  /** 1 until it is abandoned, then one more each time: a lost lock or connection does not count. */
  deliveryCount: number;
  /** It was delivered before. */
  isRedelivered: boolean;
  /** Names this delivery, for as long as it is locked. */
  lockToken: string;
  settle(how: Settlement): void;
}

/** How a message leaves the queue. */
export type QueueOutcome = 'completed' | 'rejected' | 'expired' | 'undeliverable';

/** A receiver of a queue. */
export interface QueueReceiver<T> {
  receive(locked: LockedItem<T>): void;
  hasRoom?(): boolean;
  /** Whether its protocol can say this message; absent: any. Another receiver may get it. */
  takes?(item: T): boolean;
}

/** The deliveries that a message had while it was in the queue. */
export interface DeliveryHistory {
  /** How often it was abandoned. */
  abandoned: number;
  /** Whether it was delivered. */
  handed: boolean;
}

/** A queue whose messages are locked while a receiver has them and leave it when they are settled. */
export interface LockedQueue<T> {
  /** `expiresAt` in milliseconds since 1970; absent: the time to live from now. `history`: its deliveries before a restart. */
  add(item: T, expiresAt?: number, history?: DeliveryHistory): void;
  /**
   * A receiver gets what is available, in order, then each message as it comes. Several take turns. The answer ends it;
   * what it had and did not settle is available again.
   */
  open(receiver: QueueReceiver<T>): () => void;
  /** Deliver what is available: a receiver has room again. */
  flush(): void;
  /** Deliver the first message that is available and that `takes` lets pass, to nobody who stays. */
  take(takes: (item: T) => boolean): LockedItem<T> | undefined;
  /** Settle what is locked under this token. False when nothing is. */
  settle(lockToken: string, how: Settlement): boolean;
  /** All messages in the queue, locked ones included, oldest first. */
  items(): T[];
  /** Remove all messages, and return them. */
  clear(): T[];
  /** Stop the timers. */
  close(): void;
}

interface QueueEntry<T> extends DeliveryHistory {
  item: T;
  expiresAt: number;
  lock: Lock<T> | undefined;
}

interface Lock<T> {
  /** The receiver that has the message; none when it was taken. */
  receiver: QueueReceiver<T> | undefined;
  token: string;
  /** In milliseconds since 1970. */
  until: number;
}

const maxTimerMs = 2 ** 31 - 1;
const fresh: DeliveryHistory = { abandoned: 0, handed: false };

/** A queue in memory. `onOutcome` is called for each message that leaves it other than by `clear`. */
export function createLockedQueue<T>(options: {
  rules: QueueRules;
  now: () => number;
  onDelivery?: (item: T, deliveryCount: number) => void;
  /** Called whenever the history of a message changes, which must be stored to survive a restart. */
  onChange?: (item: T, history: DeliveryHistory) => void;
  onOutcome: (item: T, outcome: QueueOutcome) => void;
  /** Most bytes in the queue, and what an item counts: the oldest expire to make room. Any number when absent. */
  bound?: { bytes: number; of: (item: T) => number };
}): LockedQueue<T> {
  const { rules, now, onDelivery, onChange, onOutcome, bound } = options;
  const entries: QueueEntry<T>[] = [];
  const receivers: QueueReceiver<T>[] = [];
  let timer: NodeJS.Timeout | undefined;

  const remove = (entry: QueueEntry<T>, outcome: QueueOutcome): void => {
    const at = entries.indexOf(entry);
    if (at < 0) return;
    entries.splice(at, 1);
    entry.lock = undefined; // who had it cannot settle it any more
    onOutcome(entry.item, outcome);
  };

  /** End locks whose time is over. Remove messages that have expired or were abandoned too often. */
  const removeExpired = (): void => {
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

  const hasRoom = (receiver: QueueReceiver<T>): boolean => receiver.hasRoom?.() ?? true;
  const nextReceiver = (item: T): QueueReceiver<T> | undefined => {
    const at = receivers.findIndex((receiver) => hasRoom(receiver) && (receiver.takes?.(item) ?? true));
    const [receiver] = at < 0 ? [] : receivers.splice(at, 1);
    if (receiver) receivers.push(receiver);
    return receiver;
  };

  const settle = (entry: QueueEntry<T>, lock: Lock<T>, how: Settlement): boolean => {
    if (entry.lock !== lock || lock.until <= now()) return false;
    if (how === 'complete') remove(entry, 'completed');
    else if (how === 'reject') remove(entry, 'rejected');
    else {
      entry.lock = undefined;
      entry.abandoned += 1;
      onChange?.(entry.item, entry);
      flush();
    }
    return true;
  };

  const lockFor = (entry: QueueEntry<T>, receiver: QueueReceiver<T> | undefined): LockedItem<T> => {
    const lock = { receiver, token: randomUUID(), until: now() + rules.lockMs };
    entry.lock = lock;
    const { item, handed: isRedelivered } = entry;
    const deliveryCount = entry.abandoned + 1;
    entry.handed = true;
    if (!isRedelivered) onChange?.(item, entry);
    onDelivery?.(item, deliveryCount);
    return {
      item,
      deliveryCount,
      isRedelivered,
      lockToken: lock.token,
      settle: (how) => void settle(entry, lock, how),
    };
  };

  const flush = (): void => {
    removeExpired();
    for (const entry of [...entries]) {
      if (entry.lock || !entries.includes(entry)) continue;
      const receiver = nextReceiver(entry.item);
      if (receiver) receiver.receive(lockFor(entry, receiver));
      else if (!receivers.some(hasRoom)) break;
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
    open(receiver) {
      receivers.push(receiver);
      flush();
      return () => {
        const at = receivers.indexOf(receiver);
        if (at < 0) return;
        receivers.splice(at, 1);
        for (const entry of entries) if (entry.lock?.receiver === receiver) entry.lock = undefined;
        flush();
      };
    },
    flush,
    take(takes) {
      removeExpired();
      const entry = entries.find(({ lock, item }) => !lock && takes(item));
      const taken = entry && lockFor(entry, undefined);
      schedule();
      return taken;
    },
    settle(lockToken, how) {
      const entry = entries.find(({ lock }) => lock?.token === lockToken);
      return entry?.lock !== undefined && settle(entry, entry.lock, how);
    },
    items() {
      removeExpired();
      return entries.map(({ item }) => item);
    },
    clear() {
      clearTimeout(timer);
      for (const entry of entries) entry.lock = undefined;
      return entries.splice(0).map(({ item }) => item);
    },
    close: () => clearTimeout(timer),
  };
}
