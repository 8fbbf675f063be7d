import type { EventHubConsumerClient } from '@azure/event-hubs';
import type { DeviceEvent } from '../../engine/intake.ts';
import { createPartition, type PartitionOptions } from '../../engine/partition.ts';
import { storeFieldsOf } from '../../observing/storeFailure.ts';
import type { Ownership } from '../../stores/checkpointStore.ts';
import type { GapReports } from './gaps.ts';
import { createPartitionReader, type PartitionReaderOptions } from './reader.ts';

/** A session that has ended has none. */
export type SessionState = 'opening' | 'reading' | 'draining' | 'revoked';

/** Why a session was ended without a release. */
export type Revocation = 'lost' | 'stood_still' | 'refused';

export interface PartitionSessionOptions<A extends DeviceEvent>
  extends Omit<PartitionReaderOptions, 'partition' | 'partitionId' | 'epoch'>,
    Omit<PartitionOptions<A>, 'onGap'> {
  /** With which the session begins. */
  readonly record: Ownership;
  readonly gaps: GapReports;
  /** The longest that it drains. */
  readonly drainMs: number;
  /**
   * Releases the ownership.
   * @param begun newest sequence number whose handling may have begun on any instance, if that is known
   */
  releaseOwnership(begun: number | undefined): Promise<void>;
  /** Called once. */
  ended(reason: Revocation | 'released' | 'not_released'): void;
  /** Nothing of the session runs any more. */
  gone(): void;
}

export type PartitionSession = ReturnType<typeof beginPartitionSession>;

/**
 * A partition session: the time in which this instance owns and reads one partition. It reads, and drains when it is to be
 * released; it is revoked from either state.
 */
export function beginPartitionSession<A extends DeviceEvent>(
  client: EventHubConsumerClient,
  options: PartitionSessionOptions<A>,
) {
  const { record, redeliveryHorizon, gaps, drainMs, releaseOwnership, ended, gone, log } = options;
  const partition = createPartition({ ...options, onGap: gaps.report });
  const { partition: partitionId, epoch } = record;
  const reader = createPartitionReader(client, { ...options, partition, partitionId, epoch });
  const position = () => partition.position()?.sequenceNumber ?? -1;
  let state: Exclude<SessionState, 'opening'> = 'reading';
  let end: Promise<void> = Promise.resolve();

  /** The end of a revoked session has been reported already. */
  function endedUnlessRevoked(reason: 'released' | 'not_released') {
    if (state !== 'revoked') ended(reason);
  }

  async function drainAndRelease() {
    try {
      const [unfinished] = await Promise.all([partition.drain(drainMs), reader.close()]);
      partition.revoke();
      gaps.close();
      const before = redeliveryHorizon.known();
      await releaseOwnership(before === undefined ? undefined : Math.max(before, position()));
      endedUnlessRevoked('released');
      log.info({ partition: partitionId, unfinished }, 'partition released');
    } catch (error) {
      endedUnlessRevoked('not_released');
      log.warn({ err: error, ...storeFieldsOf(error) }, 'a partition was not released');
    } finally {
      gone();
    }
  }

  async function close() {
    partition.revoke();
    await Promise.all([reader.close(), partition.drain(drainMs)]);
    gaps.close();
  }

  return {
    record,
    reader,
    /** Sequence number up to which events have been admitted; -1 before the first. */
    position,
    /** When the session began, as `performance.now()`. */
    since: performance.now(),
    /** For operators. */
    contents: partition.contents,
    devices: partition.devices,
    /** Messages read and not handled to their end. */
    pending: partition.pending,
    state: () => state,
    /**
     * Nothing more is begun, called, sent or written, also in the middle of a drain, and the subscription closes. Does nothing when
     * the session is revoked already.
     */
    revoke(reason: Revocation) {
      if (state === 'revoked') return;
      ended(reason);
      if (state === 'draining') partition.revoke();
      else end = close().finally(gone);
      state = 'revoked';
    },
    /** Drains and releases; of a session that has been revoked, waits for the end. Never rejects. */
    release(): Promise<void> {
      if (state === 'reading') {
        state = 'draining';
        end = drainAndRelease();
      }
      return end;
    },
  };
}
