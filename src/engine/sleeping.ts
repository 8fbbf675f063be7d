/**
 * Messages of which only replies are left that wait for the full queues of their devices (C4). They hold no room that others need:
 * their bytes have a bound of their own, beyond which the one that has slept longest is given up.
 */
export interface Sleeping {
  /**
   * @param bytes of its event and its replies
   * @param isFollowed whether other messages of its device wait behind it
   */
  add(bytes: number, isFollowed: () => boolean): Sleeper;
  /** No more messages may wait (B5): gives up the one that has slept longest of those that others wait behind. */
  makeRoom(): void;
  taken(): { messages: number; bytes: number };
}

/** One message. It is charged from when it first sleeps until it is given up or leaves. */
export interface Sleeper {
  /** @param giveUp ends the waiting; may be called before this returns */
  sleeps(giveUp: () => void): void;
  /** Its replies are tried again. */
  wakes(): void;
  shrink(bytes: number): void;
  leave(): void;
}

/** Of each, beside its event and its replies: what it does, and what it waits with. */
export const sleeperBytes = 8 * 1024;

interface ChargedSleeper {
  bytes: number;
  isFollowed(): boolean;
  /** Undefined while it is awake. */
  giveUp: (() => void) | undefined;
}

export function createSleeping(maxBytes: number): Sleeping {
  /** In the order in which they began to sleep. */
  const charged = new Set<ChargedSleeper>();
  let bytes = 0;

  function enter(one: ChargedSleeper) {
    if (charged.has(one)) return;
    charged.add(one);
    bytes += one.bytes;
  }

  function leave(one: ChargedSleeper) {
    if (charged.delete(one)) bytes -= one.bytes;
  }

  /** One alone always fits. */
  function keepBound() {
    for (const one of charged) {
      if (bytes <= maxBytes || charged.size === 1) return;
      giveUp(one);
    }
  }

  function giveUp(one: ChargedSleeper) {
    if (one.giveUp === undefined) return;
    leave(one);
    one.giveUp();
  }

  return {
    add(size, isFollowed) {
      const one: ChargedSleeper = { bytes: size + sleeperBytes, isFollowed, giveUp: undefined };
      return {
        sleeps(giveUp) {
          one.giveUp = giveUp;
          enter(one);
          keepBound();
        },
        wakes() {
          one.giveUp = undefined;
        },
        shrink(less) {
          one.bytes -= less;
          if (charged.has(one)) bytes -= less;
        },
        leave: () => leave(one),
      };
    },
    makeRoom() {
      for (const one of charged) if (one.giveUp && one.isFollowed()) return giveUp(one);
    },
    taken: () => ({ messages: charged.size, bytes }),
  };
}
