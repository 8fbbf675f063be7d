import type { Progress } from '../partition/checkpoints.ts';
import type { Ownership } from '../reading/balance.ts';

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
