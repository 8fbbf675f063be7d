import { type Amount, type Capacity, type CapacityLimits, createCapacity } from './capacity.ts';

/**
 * The account of what is read and waits to begin: one bound of messages and bytes for the process, which its partitions share
 * (B5). A partition whose next message finds no room stops, and the rest of it waits in the hub.
 */
export interface Backlog {
  /** @param roomAgain called once there may be room, after there was none for a message of the partition */
  ofPartition(roomAgain: () => void): PartitionBacklog;
  taken(): Amount;
}

/** What waits of one partition: at most half of all, so that the others have room. */
export interface PartitionBacklog {
  /**
   * Whether one more message may wait.
   * @param backends it waits for them, not for its turn: at most half of all may wait for the same one
   */
  hasRoom(bytes: number, backends: readonly string[]): boolean;
  /** A message waits, for these backends if for any. */
  enter(bytes: number, backends: readonly string[]): void;
  /** A message has begun. */
  leave(bytes: number): void;
  /** From now on these messages wait for backends: they take their room even if there is none. */
  hold(waiting: Amount, backends: readonly string[]): void;
  /** They do not any more. */
  release(waiting: Amount, backends: readonly string[]): void;
  /** Nothing of the partition waits any more, whatever is called after this. */
  close(): void;
}

export function createBacklog(limits: CapacityLimits): Backlog {
  const half = { maxMessages: limits.maxMessages / 2, maxBytes: limits.maxBytes / 2 };
  const all = createCapacity(limits);
  const forBackend = createShares(() => createCapacity(half));
  /** Of the partitions that have stopped, in the order in which they did. */
  const stopped = new Set<() => void>();

  function tellStopped() {
    const told = [...stopped];
    stopped.clear();
    for (const roomAgain of told) roomAgain();
  }

  return {
    ofPartition(roomAgain) {
      const own = createCapacity(half, all);
      const ownForBackend = createShares((backend) => createCapacity(half, forBackend.of(backend)));
      let isClosed = false;

      function release({ messages, bytes }: Amount, backends: readonly string[]) {
        if (isClosed || backends.length === 0) return;
        for (const backend of backends) ownForBackend.of(backend).give(bytes, messages);
        tellStopped();
      }

      function hold(waiting: Amount, backends: readonly string[]) {
        if (!isClosed) for (const backend of backends) ownForBackend.of(backend).add(waiting);
      }

      return {
        hasRoom(bytes, backends) {
          const fits = own.hasRoom(bytes) && backends.every((backend) => ownForBackend.of(backend).hasRoom(bytes));
          if (!fits) stopped.add(roomAgain);
          return fits;
        },
        enter(bytes, backends) {
          own.add({ messages: 1, bytes });
          hold({ messages: 1, bytes }, backends);
        },
        leave(bytes) {
          own.give(bytes);
          tellStopped();
        },
        hold,
        release,
        close() {
          isClosed = true;
          for (const share of [own, ...ownForBackend.all()]) share.clear();
          tellStopped();
        },
      };
    },
    taken: all.taken,
  };
}

/** Of each backend, made when it is first asked for. */
function createShares(create: (backend: string) => Capacity) {
  const shares = new Map<string, Capacity>();
  return {
    all: () => shares.values(),
    of(backend: string): Capacity {
      const share = shares.get(backend) ?? create(backend);
      shares.set(backend, share);
      return share;
    },
  };
}
