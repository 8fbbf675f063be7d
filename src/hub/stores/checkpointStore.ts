import type { Progress } from '../../engine/progress/tracked.ts';

/** The lease of a partition. */
export interface Ownership {
  readonly partition: string;
  /** Instance that reads it; empty when there is none. */
  readonly owner: string;
  /** Raised with every claim; the hub disconnects a reader when one with a higher epoch connects. */
  readonly epoch: number;
  /** Instance that requests the partition, and since when (milliseconds since 1970). */
  readonly wantedBy: string;
  readonly wantedSince: number;
  /** When the owner last renewed or released it. */
  readonly renewedAt: number;
  /**
   * Newest sequence number whose handling may have begun on the last owner or an earlier one; present only while the
   * partition is released.
   */
  readonly begun?: number;
  /** Identifies this version of the record; a change must name it. */
  readonly etag: string;
}

/**
 * Ownership records and checkpoints of all partitions; one store for each namespace, hub and consumer group. Methods
 * reject when the store cannot be reached.
 */
export interface CheckpointStore {
  ownerships(): Promise<Ownership[]>;
  /**
   * Replaces a record if its etag is still that of `seen`.
   * @param seen undefined when there was none
   * @returns the new record, or undefined when another instance has changed it first
   */
  change(seen: Ownership | undefined, next: Omit<Ownership, 'etag'>): Promise<Ownership | undefined>;
  /**
   * Undefined when the partition has no checkpoint.
   * @throws UnreadableCheckpoint
   */
  progress(partition: string): Promise<Progress | undefined>;
  /** The checkpoints of all partitions. */
  checkpoints(): Promise<readonly StoredCheckpoint[]>;
  /**
   * Writes progress; ignores one that is behind what is written.
   * @returns false when another instance has claimed the partition: then nothing was written
   */
  writeProgress(reader: LeaseHolder, progress: Progress): Promise<boolean>;
}

export const isBegun = (begun: unknown): begun is number => Number.isSafeInteger(begun) && Number(begun) >= -1;

export interface StoredCheckpoint {
  readonly partition: string;
  /** Names it for an operator. */
  readonly where: string;
}

/** Identifies one claim of a partition. */
export type LeaseHolder = Pick<Ownership, 'partition' | 'owner' | 'epoch'>;
