import type { EventHubConsumerClient } from '@azure/event-hubs';
import type { Arriving } from '../partition/intake.ts';
import { createPartition, type PartitionOptions } from '../partition/partition.ts';
import type { Ownership } from './balance.ts';
import { createReader, type Reader, type ReaderOptions } from './reader.ts';

/** This instance's time with one partition: from when it begins to read it until it gives it back or loses it. */
export interface Tenure {
  /** As it was when the tenure began. */
  readonly record: Ownership;
  readonly reader: Omit<Reader, 'close'>;
  /** Sequence number up to which events have been taken in; -1 before the first. */
  position(): number;
  /** Drains and stops reading. Answers what whoever reads next has to know. */
  end(limitMs: number): Promise<{
    /** Messages that were not handled to their end. */
    readonly left: number;
    /** Newest sequence number of which anybody may have begun to handle the message, if that is known. */
    readonly begun: number | undefined;
  }>;
  /** Ownership is lost: at once nothing more is begun, called, sent or written, also in the middle of `end`. */
  lose(): void;
  /** The same, and stops reading. Resolves when nothing runs, or after the limit. */
  abandon(limitMs: number): Promise<void>;
}

export type TenureOptions<A extends Arriving> = Omit<ReaderOptions, 'partition' | 'partitionId' | 'epoch'> &
  PartitionOptions<A> & { readonly record: Ownership };

export function beginTenure<A extends Arriving>(client: EventHubConsumerClient, options: TenureOptions<A>): Tenure {
  const { record, spool, horizon } = options;
  const partition = createPartition(options);
  const reader = createReader(client, {
    ...options,
    partition,
    partitionId: record.partition,
    epoch: record.epoch,
  });

  return {
    record,
    reader,
    position: () => partition.position()?.sequenceNumber ?? -1,
    async end(limitMs) {
      // What the hub gave meanwhile would only be thrown away.
      const [left] = await Promise.all([partition.drain(limitMs), reader.close()]);
      partition.abandon();
      spool.close();
      const before = horizon.known();
      const begun = before === undefined ? undefined : Math.max(before, partition.position()?.sequenceNumber ?? -1);
      return { left, begun };
    },
    lose: partition.abandon,
    async abandon(limitMs) {
      partition.abandon();
      await Promise.all([reader.close(), partition.drain(limitMs)]);
      spool.close();
    },
  };
}
