// What is in memory beside the messages in flight: those that wait to begin, those that are being answered, and those that wait for the full
// queues of devices. Nobody waits for room here.

export type Amount = Readonly<Record<'messages' | 'bytes', number>>;
export type Limits = Readonly<Record<'maxMessages' | 'maxBytes', number>>;

export interface Capacity {
  /** Whether one more message fits. One always fits into an empty room. */
  hasRoom(bytes: number): boolean;
  /** Returns whether there was room. */
  take(bytes: number): boolean;
  /** Takes room even if there is none. */
  add(amount: Amount): void;
  shrink(bytes: number): void;
  give(bytes: number, messages?: number): void;
  clear(): void;
  taken(): Amount;
}

/** @param whole is charged too */
export function createCapacity({ maxMessages, maxBytes }: Limits, whole?: Capacity): Capacity {
  let messages = 0;
  let bytes = 0;

  const hasRoom = (more: number): boolean =>
    (messages === 0 || (messages < maxMessages && bytes + more <= maxBytes)) && whole?.hasRoom(more) !== false;

  function add(more: Amount) {
    messages += more.messages;
    bytes += more.bytes;
    whole?.add(more);
  }

  function give(less: number, fewer = 1) {
    messages -= fewer;
    bytes -= less;
    whole?.give(less, fewer);
  }

  return {
    hasRoom,
    take(more) {
      if (!hasRoom(more)) return false;
      add({ messages: 1, bytes: more });
      return true;
    },
    add,
    shrink: (less) => give(less, 0),
    give,
    clear: () => give(bytes, messages),
    taken: () => ({ messages, bytes }),
  };
}

export type Backlog = ReturnType<typeof createBacklog>;
export type PartitionBacklog = ReturnType<Backlog['ofPartition']>;

/**
 * The account of what is read and waits to begin: one bound of messages and bytes for the process, which its partitions share
 * (B5). A partition whose next message finds no room stops, and the rest of it waits in the hub.
 */
export function createBacklog(limits: Limits) {
  const half = { maxMessages: limits.maxMessages / 2, maxBytes: limits.maxBytes / 2 };
  const all = createCapacity(limits);
  const forBackend = new Map<string, Capacity>();
  /** Of the partitions that have stopped, in the order in which they did. */
  const stopped = new Set<() => void>();

  function partIn(parts: Map<string, Capacity>, backend: string, whole?: Capacity): Capacity {
    const part = parts.get(backend) ?? createCapacity(half, whole);
    parts.set(backend, part);
    return part;
  }

  function tellStopped() {
    const told = [...stopped];
    stopped.clear();
    for (const roomAgain of told) roomAgain();
  }

  /**
   * What waits of one partition: at most half of all, so that the others have room.
   * @param roomAgain called once there may be room, after there was none for a message of the partition
   */
  function ofPartition(roomAgain: () => void) {
    const own = createCapacity(half, all);
    const ownForBackend = new Map<string, Capacity>();
    let isClosed = false;

    const partOf = (backend: string) => partIn(ownForBackend, backend, partIn(forBackend, backend));

    /** From now on these messages wait for backends: they take their room even if there is none. */
    function hold(waiting: Amount, backends: readonly string[]) {
      if (!isClosed) for (const backend of backends) partOf(backend).add(waiting);
    }

    return {
      /** Whether one more message may wait, for these backends if not for its turn: at most half of all may wait for the same one. */
      hasRoom(bytes: number, backends: readonly string[] = []): boolean {
        if (isClosed) return false;
        const fits = own.hasRoom(bytes) && backends.every((backend) => partOf(backend).hasRoom(bytes));
        if (!fits) stopped.add(roomAgain);
        return fits;
      },
      /** A message waits, for these backends if for any. */
      enter(bytes: number, backends: readonly string[] = []) {
        own.add({ messages: 1, bytes });
        hold({ messages: 1, bytes }, backends);
      },
      /** A message has begun. */
      give(bytes: number) {
        if (isClosed) return; // it is freed already
        own.give(bytes);
        tellStopped();
      },
      hold,
      /** They do not any more. */
      release({ messages, bytes }: Amount, backends: readonly string[]) {
        if (isClosed || backends.length === 0) return;
        for (const backend of backends) partOf(backend).give(bytes, messages);
        tellStopped();
      },
      /** Nothing of the partition waits any more, whatever is called after this. */
      close() {
        isClosed = true;
        for (const part of [own, ...ownForBackend.values()]) part.clear();
        tellStopped();
      },
    };
  }

  return { ofPartition, taken: all.taken };
}

/** Of each that sleeps, beside its event and its replies: what it does, and what it waits with. */
export const sleeperBytes = 8 * 1024;

interface ChargedSleeper {
  bytes: number;
  isFollowed(): boolean;
  /** Undefined while it is awake. */
  giveUp: (() => void) | undefined;
}

export type Sleeping = ReturnType<typeof createSleeping>;
export type Sleeper = ReturnType<Sleeping['add']>;

/**
 * Messages of which only replies are left that wait for the full queues of their devices (C4). They hold no room that others need:
 * their bytes have a bound of their own, beyond which the one that has slept longest is given up.
 */
export function createSleeping(maxBytes: number) {
  /** In the order in which they began to sleep. */
  const charged = new Set<ChargedSleeper>();
  let bytes = 0;

  function leave(one: ChargedSleeper) {
    if (charged.delete(one)) bytes -= one.bytes;
  }

  function giveUp(one: ChargedSleeper) {
    if (one.giveUp === undefined) return;
    leave(one);
    one.giveUp();
  }

  /**
   * One message. It is charged from when it first sleeps until it is given up or leaves.
   * @param size bytes of its event and its replies
   * @param isFollowed whether other messages of its device wait behind it
   */
  function add(size: number, isFollowed: () => boolean) {
    const one: ChargedSleeper = { bytes: size + sleeperBytes, isFollowed, giveUp: undefined };
    return {
      /** @param ownGiveUp ends the waiting; may be called before this returns */
      sleeps(ownGiveUp: () => void) {
        one.giveUp = ownGiveUp;
        if (!charged.has(one)) bytes += one.bytes;
        charged.add(one);
        for (const other of charged) {
          if (bytes <= maxBytes || charged.size === 1) return; // one alone always fits
          giveUp(other);
        }
      },
      /** Its replies are tried again. */
      wakes() {
        one.giveUp = undefined;
      },
      shrink(less: number) {
        one.bytes -= less;
        if (charged.has(one)) bytes -= less;
      },
      /** It leaves. */
      give: () => leave(one),
    };
  }

  return {
    add,
    /** No more messages may wait (B5): gives up the one that has slept longest of those that others wait behind. */
    makeRoom() {
      for (const one of charged) if (one.giveUp && one.isFollowed()) return giveUp(one);
    },
    taken: (): Amount => ({ messages: charged.size, bytes }),
  };
}
