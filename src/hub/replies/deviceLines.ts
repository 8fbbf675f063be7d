/** The line of each device: one reply at a time is sent to it, in order, and what is known of its queue in the hub (C4). */
export interface DeviceLines {
  /** @returns whether it is the only open reply of the device; then `leave` must follow */
  enter(deviceId: string): boolean;
  /**
   * Waits until the replies before it have left the line.
   * @param over ends the waiting
   * @param sleeps called when the queue of the device is full, now or while the reply waits
   * @returns false when the waiting was ended; else `leave` must follow
   */
  enterBehind(deviceId: string, over: AbortSignal, sleeps: () => void): Promise<boolean>;
  leave(deviceId: string): void;
  /** What the hub has said of the queue. */
  found(deviceId: string, isFull: boolean): void;
  isFull(deviceId: string): boolean;
  /** For operators. */
  full(): FullQueue[];
  /** Replies behind others to their devices. */
  waiting(): number;
  /** Ends all waiting. */
  close(): void;
}

/** A device whose queue in the hub is full. */
export interface FullQueue {
  readonly device: string;
  /** Those that wait for room in it. */
  readonly replies: number;
  /** As `performance.now()`. */
  readonly since: number;
}

interface Waiting {
  go(isTurn: boolean): void;
  sleeps(): void;
}

interface Line {
  /** Undefined while the queue is not full, as far as is known. */
  fullSince: number | undefined;
  /** Behind the one that is being sent. */
  readonly waiting: Set<Waiting>;
}

/** @param now a clock that can't be set, in milliseconds (D180) */
export function createDeviceLines(now: () => number): DeviceLines {
  /** Of devices with an open reply. */
  const lines = new Map<string, Line>();
  let waitingReplies = 0;
  let isClosed = false;

  return {
    enter(deviceId) {
      if (lines.has(deviceId)) return false;
      lines.set(deviceId, { fullSince: undefined, waiting: new Set() });
      return true;
    },
    enterBehind: (deviceId, over, sleeps) =>
      new Promise((resolve) => {
        const { waiting, fullSince } = lines.get(deviceId) as Line;
        const leave = () => one.go(false);
        const one: Waiting = {
          go(isTurn) {
            over.removeEventListener('abort', leave);
            waiting.delete(one);
            waitingReplies -= 1;
            resolve(isTurn);
          },
          sleeps,
        };
        waiting.add(one);
        waitingReplies += 1;
        over.addEventListener('abort', leave, { once: true });
        if (isClosed || over.aborted) leave();
        else if (fullSince !== undefined) sleeps();
      }),
    leave(deviceId) {
      const [next] = lines.get(deviceId)?.waiting ?? [];
      if (next === undefined) lines.delete(deviceId);
      else next.go(true);
    },
    found(deviceId, isFull) {
      const line = lines.get(deviceId);
      if (line === undefined || isFull === (line.fullSince !== undefined)) return;
      line.fullSince = isFull ? now() : undefined;
      if (isFull) for (const { sleeps } of line.waiting) sleeps();
    },
    isFull: (deviceId) => lines.get(deviceId)?.fullSince !== undefined,
    full: () =>
      [...lines].flatMap(([device, { fullSince, waiting }]) =>
        fullSince === undefined ? [] : [{ device, replies: 1 + waiting.size, since: fullSince }],
      ),
    waiting: () => waitingReplies,
    close() {
      isClosed = true;
      for (const { waiting } of lines.values()) for (const one of waiting) one.go(false);
    },
  };
}
