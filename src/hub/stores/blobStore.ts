import type { Progress } from '../../engine/progress/tracked.ts';
import type { AccountAccess } from '../../identity/access.ts';
import { containerIn } from '../../storage/containerIn.ts';
import type { CallLimits } from '../../storage/storageCalls.ts';
import {
  blobPrefixOf,
  type ConsumerGroupId,
  ownershipLabels,
  progressContent,
  readOwnership,
  readProgress,
  readSequenceNumber,
  writerContent,
  writerEpoch,
} from './blobRecords.ts';
import type { CheckpointStore, LeaseHolder, Ownership } from './checkpointStore.ts';
import { createLabelledBlobs, type LabelledBlob } from './labelledBlobs.ts';

export interface BlobStoreOptions extends ConsumerGroupId {
  /** With the key of the storage account, a shared access signature for the container, or an identity. */
  readonly account: AccountAccess;
  /** Created at the first use when it does not exist. */
  readonly container: string;
  readonly limits?: CallLimits & { readonly verbMs: number };
}

/** A checkpoint as its reader last wrote it. */
interface WrittenCheckpoint {
  readonly reader: LeaseHolder;
  readonly blob: LabelledBlob;
}

const defaultLimits = { attemptMs: 4_000, attempts: 4, pauseMs: 200, verbMs: 15_000 };

/** Attempts to write a checkpoint that others change at the same time. */
const mostRaces = 5;

/**
 * In Azure Blob Storage, for any number of instances. Writes are conditional on the etag that was read. A claim also
 * writes its epoch on the checkpoint, so that a late write of the last owner fails.
 */
export function createBlobStore({
  account,
  container,
  limits = defaultLimits,
  ...place
}: BlobStoreOptions): CheckpointStore {
  const blobs = blobsIn(account, container, limits);
  const ownershipPrefix = blobPrefixOf(place, 'ownership');
  const checkpointPrefix = blobPrefixOf(place, 'checkpoint');
  const checkpointName = (partition: string) => checkpointPrefix + partition;
  const written = new Map<string, WrittenCheckpoint>();
  const deadline = () => performance.now() + limits.verbMs;
  const recordOf = (partition: string, blob: LabelledBlob) => readOwnership(partition, blob, blobs.clockAheadMs());

  /** Writes the reader's epoch on the checkpoint and keeps its position: later writes of the last owner fail. */
  async function stamp(reader: LeaseHolder, by: number): Promise<void> {
    const name = checkpointName(reader.partition);
    for (let race = 0; race < mostRaces; race += 1) {
      const current = await blobs.read(name, by);
      if (current === undefined || writerEpoch(current) >= reader.epoch) return;
      const blob = await blobs.write(name, writerContent(current, reader), current.etag, by);
      if (blob === undefined) continue;
      written.set(reader.partition, { reader, blob });
      return;
    }
    throw busy(reader.partition);
  }

  /** The current checkpoint, or `false` when the reader may not write it. */
  async function current(reader: LeaseHolder, by: number): Promise<LabelledBlob | undefined | false> {
    const known = written.get(reader.partition);
    if (known && isSame(known.reader, reader)) return known.blob;
    const [ownership, checkpoint] = await Promise.all([
      blobs.read(ownershipPrefix + reader.partition, by),
      blobs.read(checkpointName(reader.partition), by),
    ]);
    if (ownership === undefined || !isSame(recordOf(reader.partition, ownership), reader)) return false;
    return writerEpoch(checkpoint) > reader.epoch ? false : checkpoint;
  }

  return {
    async ownerships() {
      const found = await blobs.list(ownershipPrefix, deadline());
      return found.map((blob) => recordOf(blob.name.slice(ownershipPrefix.length), blob));
    },

    async change(seen, next) {
      const { partition } = next;
      const by = deadline();
      const changesReader = seen === undefined || !isSame(seen, next);
      if (changesReader) written.delete(partition);
      const isTaken = next.epoch !== seen?.epoch;
      // The record may have been deleted: its last owner is known by the checkpoint, and keeps its epoch.
      const last = isTaken ? await blobs.read(checkpointName(partition), by) : undefined;
      const isLast = last?.labels['owner'] === next.owner && writerEpoch(last) === next.epoch;
      const epoch = isTaken && !isLast ? Math.max(next.epoch, writerEpoch(last) + 1) : next.epoch;
      const labels = ownershipLabels(seen, { ...next, epoch }, blobs.clockAheadMs());
      const blob = await blobs.write(ownershipPrefix + partition, { labels }, seen?.etag, by);
      if (blob === undefined) return undefined;
      if (isTaken) await stamp({ partition, owner: next.owner, epoch }, by);
      return recordOf(partition, blob);
    },

    async progress(partition) {
      const blob = await blobs.read(checkpointName(partition), deadline());
      return blob && readProgress(blob);
    },

    async checkpoints() {
      const found = await blobs.list(checkpointPrefix, deadline());
      return found.map(({ name }) => ({ partition: name.slice(checkpointPrefix.length), where: `the blob ${name}` }));
    },

    async writeProgress(reader, next) {
      const by = deadline();
      const name = checkpointName(reader.partition);
      for (let race = 0; race < mostRaces; race += 1) {
        const seen = await current(reader, by);
        if (seen === false) return false;
        const further = seen && isFurther(seen, next) ? seen : undefined;
        if (further && writerEpoch(further) === reader.epoch) return true;
        const content = further ? writerContent(further, reader) : progressContent(next, reader, name);
        const blob = await blobs.write(name, content, seen?.etag, by);
        if (blob) {
          written.set(reader.partition, { reader, blob });
          return true;
        }
        written.delete(reader.partition);
      }
      throw busy(reader.partition);
    },
  };
}

/** The sequence numbers of the checkpoints that have one, by partition. */
export async function readPositions({
  account,
  container,
  limits = defaultLimits,
  ...place
}: BlobStoreOptions): Promise<ReadonlyMap<string, number>> {
  const prefix = blobPrefixOf(place, 'checkpoint');
  const found = await blobsIn(account, container, limits).list(prefix, performance.now() + limits.verbMs);
  return new Map(
    found.flatMap((blob) => {
      const position = readSequenceNumber(blob);
      return position === undefined ? [] : [[blob.name.slice(prefix.length), position] as const];
    }),
  );
}

const blobsIn = (account: AccountAccess, container: string, limits: CallLimits) =>
  createLabelledBlobs(containerIn(account, container), limits);

const isSame = (a: Pick<Ownership, 'owner' | 'epoch'>, b: Pick<Ownership, 'owner' | 'epoch'>): boolean =>
  a.owner === b.owner && a.epoch === b.epoch;

const isFurther = (blob: LabelledBlob, { sequenceNumber }: Progress): boolean =>
  (readSequenceNumber(blob) ?? -1) > sequenceNumber;

const busy = (partition: string) =>
  new Error(`checkpoint storage: the checkpoint of partition ${partition} keeps being changed by other writers`);
