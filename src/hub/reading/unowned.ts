import { pastMoment } from '../../concurrency/clocks.ts';
import type { Position } from '../../engine/progress/watermark.ts';
import { type Behind, behindOf } from './behind.ts';
import type { NewestEvents } from './newestEvents.ts';
import type { StartPosition } from './startPosition.ts';

/** A partition of which no instance has a session, as far as this one knows. */
export interface UnownedState extends Behind {
  readonly partition: string;
}

/** How far the partitions that no instance reads are behind, from their checkpoints and the hub (D310). */
export interface UnownedPartitions {
  /** Looks at each of these when that is due, and forgets all others. Never throws. */
  look(partitions: readonly string[]): void;
  all(): readonly UnownedState[];
}

interface UnownedOptions {
  readonly checkpointOf: (partition: string) => Promise<Position | undefined>;
  /** For a partition without a checkpoint. */
  readonly startPosition: StartPosition;
  readonly newest: Pick<NewestEvents, 'of' | 'hasFailed'>;
  /** When the hub received the first event after this offset, or the first of all; undefined when there is none. */
  readonly firstAfter: (partition: string, offset: string | undefined) => Promise<Date | undefined>;
  /** Interval of the questions. */
  readonly everyMs: number;
  couldNotAsk(partition: string, error: unknown): void;
}

interface PartitionLook {
  at: number;
  isOpen: boolean;
  /** Undefined before the checkpoint is known. */
  position: number | undefined;
  /** The first event after a position. It stays the same until a checkpoint is written. */
  first: { readonly after: number; readonly receivedAt: number } | undefined;
}

export function createUnownedPartitions(options: UnownedOptions): UnownedPartitions {
  const { checkpointOf, startPosition, newest, firstAfter, everyMs, couldNotAsk } = options;
  const looked = new Map<string, PartitionLook>();
  const unstarted = startPosition === 'latest' ? Number.POSITIVE_INFINITY : -1;

  const isBehind = (partition: string, position: number) => (newest.of(partition)?.newest ?? position) > position;

  async function see(partition: string, one: PartitionLook): Promise<void> {
    one.at = performance.now();
    one.isOpen = true;
    try {
      const checkpoint = await checkpointOf(partition);
      const position = checkpoint?.sequenceNumber ?? unstarted;
      one.position = position;
      if (!isBehind(partition, position) || one.first?.after === position) return;
      const received = await firstAfter(partition, checkpoint?.offset);
      one.first = received && { after: position, receivedAt: pastMoment(received.getTime()) };
    } catch (error) {
      couldNotAsk(partition, error);
    } finally {
      one.isOpen = false;
    }
  }

  /** At once when the hub has said meanwhile that there is more. */
  function isDue(partition: string, { isOpen, at, position, first }: PartitionLook): boolean {
    const isAgeMissing = position !== undefined && isBehind(partition, position) && first?.after !== position;
    return !isOpen && performance.now() - at >= (isAgeMissing ? everyMs / 2 : everyMs);
  }

  function stateOf([partition, { position, first }]: readonly [string, PartitionLook]): UnownedState {
    const answer = newest.of(partition);
    const isAnswering = position !== undefined && !newest.hasFailed(partition);
    const place = position ?? unstarted;
    const undoneSince = isBehind(partition, place) && first?.after === place ? first.receivedAt : undefined;
    return { partition, ...behindOf({ answer, isAnswering, undoneSince, position: place }) };
  }

  return {
    look(partitions) {
      for (const partition of looked.keys()) if (!partitions.includes(partition)) looked.delete(partition);
      for (const partition of partitions) {
        const never = { at: Number.NEGATIVE_INFINITY, isOpen: false, position: undefined, first: undefined };
        const one = looked.get(partition) ?? never;
        looked.set(partition, one);
        if (isDue(partition, one)) void see(partition, one);
      }
    },
    all: () => [...looked].map(stateOf),
  };
}
