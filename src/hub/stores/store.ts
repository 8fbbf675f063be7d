import type { Progress } from '../partition/checkpoints.ts';

/** Who reads a partition. */
export interface Ownership {
  readonly partition: string;
  /** Instance that reads it; empty when nobody does. */
  readonly owner: string;
  /** Raised with every change of owner; the hub lets a higher one take over from a lower. */
  readonly epoch: number;
  /** Instance that asks for the partition, and since when (milliseconds since 1970). */
  readonly wantedBy: string;
  readonly wantedSince: number;
  /** When the owner last said that it is there, or gave the partition back. */
  readonly renewedAt: number;
  /**
   * Newest sequence number of which the last reader, or one before it, may have begun to handle the message; only while
   * the partition lies where a reader has properly given it back.
   */
  readonly begun?: number;
  /** Names this state of the record: it is changed only by who has seen it. */
  readonly etag: string;
}

/**
 * Where instances write down who reads which partition and how far it has come; one for each namespace, hub and
 * consumer group. Methods reject when the store cannot be reached.
 */
export interface Store {
  ownerships(): Promise<Ownership[]>;
  /**
   * Changes a record if it is still as it was seen.
   * @param seen undefined when there was none
   * @returns the record as it stands now, or undefined when somebody else was faster
   */
  change(seen: Ownership | undefined, next: Omit<Ownership, 'etag'>): Promise<Ownership | undefined>;
  progress(partition: string): Promise<Progress | undefined>;
  /**
   * Writes progress, which never goes backwards.
   * @returns false when the partition has been somebody else's in the meantime: nothing was written
   */
  writeProgress(reader: Reader, progress: Progress): Promise<boolean>;
}

/** An owner of a partition, for as long as it is one. */
export type Reader = Pick<Ownership, 'partition' | 'owner' | 'epoch'>;
