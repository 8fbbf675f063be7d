import type { EventHubConsumerClient } from '@azure/event-hubs';
import type { DeviceWork, PartitionContents } from '../../engine/partition/contents.ts';
import type { DeviceEvent } from '../../engine/partition/intake.ts';
import { createPartition, type PartitionOptions } from '../../engine/partition/partition.ts';
import type { Ownership } from '../stores/checkpointStore.ts';
import type { GapReports } from './gaps.ts';
import { createPartitionReader, type PartitionReader, type PartitionReaderOptions } from './reader.ts';

/** A partition session: the time in which this instance owns and reads one partition. */
export interface PartitionSession {
  /** The ownership record with which the session began. */
  readonly record: Ownership;
  readonly reader: Omit<PartitionReader, 'close'>;
  /** Sequence number up to which events have been admitted; -1 before the first. */
  position(): number;
  /** When the session began, as `performance.now()`. */
  readonly since: number;
  /** For operators. */
  contents(): PartitionContents;
  devices(device: string | undefined): readonly DeviceWork[];
  /** Messages read and not handled to their end. */
  pending(): number;
  /** Drains and stops reading. */
  drain(limitMs: number): Promise<{
    /** Messages that were not handled to their end. */
    readonly unfinished: number;
    /** Newest sequence number whose handling may have begun on any instance, if that is known. */
    readonly begun: number | undefined;
  }>;
  /** Ownership is lost: nothing more is begun, called, sent or written, also in the middle of `drain`. */
  revoke(): void;
  /** Revokes, and stops reading. Resolves when nothing runs, or after the limit. */
  close(limitMs: number): Promise<void>;
}

export type PartitionSessionOptions<A extends DeviceEvent> = Omit<
  PartitionReaderOptions,
  'partition' | 'partitionId' | 'epoch'
> &
  Omit<PartitionOptions<A>, 'onGap'> & { readonly record: Ownership; readonly gaps: GapReports };

export function beginPartitionSession<A extends DeviceEvent>(
  client: EventHubConsumerClient,
  options: PartitionSessionOptions<A>,
): PartitionSession {
  const { record, redeliveryHorizon, gaps } = options;
  const partition = createPartition({ ...options, onGap: gaps.report });
  const reader = createPartitionReader(client, {
    ...options,
    partition,
    partitionId: record.partition,
    epoch: record.epoch,
  });
  const position = () => partition.position()?.sequenceNumber ?? -1;

  return {
    record,
    reader,
    position,
    since: performance.now(),
    contents: partition.contents,
    devices: partition.devices,
    pending: partition.pending,
    async drain(limitMs) {
      const [unfinished] = await Promise.all([partition.drain(limitMs), reader.close()]);
      partition.revoke();
      gaps.close();
      const before = redeliveryHorizon.known();
      return { unfinished, begun: before === undefined ? undefined : Math.max(before, position()) };
    },
    revoke: partition.revoke,
    async close(limitMs) {
      partition.revoke();
      await Promise.all([reader.close(), partition.drain(limitMs)]);
      gaps.close();
    },
  };
}
