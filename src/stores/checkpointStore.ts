import type { Checkpoint } from '../engine/progressTracker.ts';

export interface Lease {
  readonly partition: string;
  /** Instance that reads it; empty when there is none. */
  readonly owner: string;
  /** Raised with every claim; the hub disconnects a reader when one with a higher epoch connects. */
  readonly epoch: number;
  /** Instance that requests the partition, and since when (milliseconds since 1970). */
  readonly wantedBy: string;
  readonly wantedSince: number;
  readonly renewedAt: number;
  /** Newest sequence number whose handling may have begun on any owner; present only while the partition is released. */
  readonly begun?: number;
  /** Identifies this version of the record; a change must name it. */
  readonly etag: string;
}

/** Identifies one claim of a partition. */
export type LeaseHolder = Pick<Lease, 'partition' | 'owner' | 'epoch'>;

/** Leases and checkpoints; one store for each namespace, hub and consumer group. Methods reject when it cannot be reached. */
export interface CheckpointStore {
  ownerships(): Promise<Lease[]>;
  /** Replaces the record `seen`, if any; undefined when another instance has changed it first, so that its etag is another. */
  change(seen: Lease | undefined, next: Omit<Lease, 'etag'>): Promise<Lease | undefined>;
  /** Undefined when the partition has no checkpoint. @throws UnreadableCheckpoint */
  progress(partition: string): Promise<Checkpoint | undefined>;
  /** Of all partitions; `where` names one for an operator. `at`: its sequence number, undefined when that cannot be read. */
  checkpoints(): Promise<
    readonly { readonly partition: string; readonly where: string; readonly at?: number | undefined }[]
  >;
  /** Ignores what is behind. @returns false when another instance has claimed the partition: then nothing was written */
  writeCheckpoint(reader: LeaseHolder, progress: Checkpoint): Promise<boolean>;
}

/** Also of what is before the first event. */
export const isSequenceNumber = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= -1;

/** A checkpoint is damaged, or of another partition. Its own is not read: to begin at the start position would handle everything again (D195). */
export class UnreadableCheckpoint extends Error {
  override readonly name = 'UnreadableCheckpoint';
}

/** Offsets are opaque (fact events.offset), but none of the words and signs that mean another position to the hub is one. */
const offset = /^(?:-1|\w[!#-&(-~]{0,255})$/;

type Rule = readonly [what: string, must: string, holds: (value: unknown) => boolean];
const isText = (value: unknown) => typeof value === 'string';
const rules: Readonly<Record<keyof Checkpoint, Rule>> = {
  sequenceNumber: ['sequence number', `a whole number from -1 to ${Number.MAX_SAFE_INTEGER}`, isSequenceNumber],
  offset: ['offset', 'an offset of the hub', (value) => isText(value) && offset.test(String(value))],
  completed: ['map', 'a text', isText],
  note: ['crash record', 'a text', (value) => value === undefined || isText(value)],
};

/** @param where names the checkpoint for an operator. @throws UnreadableCheckpoint */
export function progressOf(stored: unknown, where: string): Checkpoint {
  const fields = (typeof stored === 'object' && stored !== null ? stored : {}) as Checkpoint;
  for (const [name, [what, must, holds]] of Object.entries(rules)) {
    const value: unknown = fields[name as keyof Checkpoint];
    if (!holds(value)) throw new UnreadableCheckpoint(`${where}: its ${what} is ${shown(value)}, not ${must}`);
  }
  return fields;
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'missing').replace(/^(.{60}).+/s, '$1…');
