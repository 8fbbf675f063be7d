// Room for messages in memory: in a line, in the backlog of those that wait to begin, and for those that wait for the full queues of devices.

export type Amount = Readonly<Record<'messages' | 'bytes', number>>;
export type Limits = Readonly<Record<'maxMessages' | 'maxBytes', number>>;

/** How many messages may be in a line at the moment; asked again after `reached` has called back. */
type Pace = { messages(): number; reached(changed: () => void): void };

export type Line = ReturnType<typeof createLine>;

/** A fair semaphore over messages and bytes, with one line of those that wait. One message always fits while no other is in it. */
export function createLine({ maxMessages, maxBytes }: Limits, adaptiveLimit?: Pace) {
  let messages = 0;
  let bytes = 0;
  let queue: { bytes: number; signal: AbortSignal | undefined; resolve(isAdmitted: boolean): void }[] = [];
  /** One listener for each signal: one for each message in the line would cost more than the rest of its turn. */
  const watched = new WeakSet<AbortSignal>();

  const mostNow = () => Math.min(maxMessages, adaptiveLimit?.messages() ?? maxMessages);
  const fits = (more: number) => messages === 0 || (messages < mostNow() && bytes + more <= maxBytes);
  const hasRoom = (more: number): boolean => queue.length === 0 && fits(more);

  function add(more: number, count = 1) {
    messages += count;
    bytes += more;
  }

  function give(less: number, count = 1) {
    messages -= count;
    bytes -= less;
    admitNext();
  }

  function admitNext() {
    for (let first = queue[0]; first !== undefined && fits(first.bytes); first = queue[0]) {
      queue.shift();
      add(first.bytes);
      first.resolve(true);
    }
    if (queue.length > 0) askPace();
  }

  function askPace() {
    if (messages >= mostNow()) adaptiveLimit?.reached(admitNext);
  }

  function turn(bytes: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    if (signal !== undefined && !watched.has(signal)) {
      watched.add(signal);
      signal.addEventListener('abort', () => leaveQueue(signal), { once: true });
    }
    return new Promise((resolve) => {
      queue.push({ bytes, signal, resolve });
      askPace();
    });
  }

  function leaveQueue(signal: AbortSignal) {
    const leaving = queue.filter((one) => one.signal === signal);
    queue = queue.filter((one) => one.signal !== signal);
    for (const { resolve } of leaving) resolve(false);
    admitNext();
  }

  return {
    /** Waits until there is room; undefined when there is room at once. Resolves with false, charging nothing, when `signal` was aborted first. */
    take(more: number, signal?: AbortSignal): Promise<boolean> | undefined {
      if (!hasRoom(more)) return turn(more, signal);
      add(more);
      return undefined;
    },
    hasRoom,
    /** Takes room even if there is none. */
    add,
    /** Releases the part of a reservation that is not needed (R6). */
    shrink: (less: number) => give(less, 0),
    give,
    inFlight: (): Amount => ({ messages, bytes }),
  };
}

export function inTurn(first: Line, second: Line | undefined): Line {
  if (second === undefined) return first;

  const takeSecond = (bytes: number, signal: AbortSignal | undefined) =>
    second.take(bytes, signal)?.then((isTaken) => {
      if (!isTaken) first.give(bytes);
      return isTaken;
    });

  const give = (bytes: number, messages = 1) => {
    second.give(bytes, messages);
    first.give(bytes, messages);
  };

  return {
    take(bytes, signal) {
      const taking = first.take(bytes, signal);
      if (taking === undefined) return takeSecond(bytes, signal);
      return taking.then((isTaken) => isTaken && (takeSecond(bytes, signal) ?? true));
    },
    hasRoom: (bytes) => first.hasRoom(bytes) && second.hasRoom(bytes),
    add(bytes, messages) {
      first.add(bytes, messages);
      second.add(bytes, messages);
    },
    shrink: (bytes) => give(bytes, 0),
    give,
    inFlight: first.inFlight,
  };
}

export type Backlog = ReturnType<typeof createBacklog>;
export type PartitionBacklog = ReturnType<Backlog['ofPartition']>;

/** What is read and waits to begin: one bound for the process (B5). A partition whose next message finds no room stops: the rest waits in the hub. */
export function createBacklog(limits: Limits) {
  const half = { maxMessages: limits.maxMessages / 2, maxBytes: limits.maxBytes / 2 };
  const all = createLine(limits);
  const forBackend = new Map<string, Line>();
  const stopped = new Set<() => void>();

  function partIn(parts: Map<string, Line>, backend: string, whole?: Line): Line {
    const part = parts.get(backend) ?? inTurn(createLine(half), whole);
    parts.set(backend, part);
    return part;
  }

  function tellStopped() {
    const told = [...stopped];
    stopped.clear();
    for (const roomAgain of told) roomAgain();
  }

  /** At most half of all may be of one partition. @param roomAgain called once there may be room, after there was none */
  function ofPartition(roomAgain: () => void) {
    const own = inTurn(createLine(half), all);
    const ownForBackend = new Map<string, Line>();
    let isClosed = false;

    const partOf = (backend: string) => partIn(ownForBackend, backend, partIn(forBackend, backend));

    /** From now on these messages wait for backends: they take their room even if there is none. */
    function hold({ messages, bytes }: Amount, backends: readonly string[]) {
      if (!isClosed) for (const backend of backends) partOf(backend).add(bytes, messages);
    }

    return {
      /** Whether one more message may wait, for these backends if not for its turn: at most half of all may wait for the same one. */
      hasRoom(bytes: number, backends: readonly string[] = []): boolean {
        if (isClosed) return false;
        const fits = own.hasRoom(bytes) && backends.every((backend) => partOf(backend).hasRoom(bytes));
        if (!fits) stopped.add(roomAgain);
        return fits;
      },
      enter(bytes: number, backends: readonly string[] = []) {
        own.add(bytes);
        hold({ messages: 1, bytes }, backends);
      },
      give(bytes: number) {
        if (isClosed) return; // it is freed already
        own.give(bytes);
        tellStopped();
      },
      hold,
      release({ messages, bytes }: Amount, backends: readonly string[]) {
        if (isClosed || backends.length === 0) return;
        for (const backend of backends) partOf(backend).give(bytes, messages);
        tellStopped();
      },
      /** Nothing of the partition waits any more, whatever is called after this. */
      close() {
        isClosed = true;
        for (const part of [own, ...ownForBackend.values()]) part.give(part.inFlight().bytes, part.inFlight().messages);
        tellStopped();
      },
    };
  }

  return { ofPartition, taken: all.inFlight };
}

/** Of each that sleeps, beside its event and its replies: what it does, and what it waits with. */
export const sleeperBytes = 8 * 1024;

/** Has no `giveUp` while it is awake. */
type ChargedSleeper = { bytes: number; isFollowed(): boolean; giveUp: (() => void) | undefined };

export type Sleeping = ReturnType<typeof createSleeping>;

/** Messages whose last replies wait for full queues (C4), with a bound of their own: beyond it the one that has slept longest is given up. */
export function createSleeping(maxBytes: number) {
  /** In the order in which they began to sleep. */
  const charged = new Set<ChargedSleeper>();
  let bytes = 0;
  let behindBytes = 0;

  function leave(one: ChargedSleeper) {
    if (charged.delete(one)) bytes -= one.bytes;
  }

  function giveUp(one: ChargedSleeper) {
    if (one.giveUp === undefined) return;
    leave(one);
    one.giveUp();
  }

  /** A message, charged from when it first sleeps until it is given up or leaves. @param size bytes of its event and its replies */
  function add(size: number, isFollowed: () => boolean) {
    const one: ChargedSleeper = { bytes: size + sleeperBytes, isFollowed, giveUp: undefined };
    return {
      /** @param ownGiveUp ends the waiting; may be called before this returns */
      sleeps(ownGiveUp: () => void) {
        one.giveUp = ownGiveUp;
        if (!charged.has(one)) bytes += one.bytes;
        charged.add(one);
        for (const other of charged) {
          if (bytes + behindBytes <= maxBytes || charged.size === 1) return; // one alone always fits
          giveUp(other);
        }
      },
      wakes() {
        one.giveUp = undefined;
      },
      shrink(less: number) {
        one.bytes -= less;
        if (charged.has(one)) bytes -= less;
      },
      give: () => leave(one),
    };
  }

  return {
    add,
    /** No more messages may wait (B5): gives up the one that has slept longest of those that others wait behind. */
    makeRoom() {
      for (const one of charged) if (one.giveUp && one.isFollowed()) return giveUp(one);
    },
    /** One that is done waits to be recorded behind an earlier one of its device (A12), whose reply may wait for hours. @returns what ends that */
    addBehind(size: number): () => void {
      const own = size + sleeperBytes;
      behindBytes += own;
      return () => {
        behindBytes -= own;
      };
    },
    hasRoomBehind: () => bytes + behindBytes <= maxBytes,
    taken: (): Amount => ({ messages: charged.size, bytes: bytes + behindBytes }),
  };
}
