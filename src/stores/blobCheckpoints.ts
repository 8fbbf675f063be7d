import type { Checkpoint } from '../engine/progressTracker.ts';
import type { ContainerAccess } from './account.ts';
import type { CheckpointStore, Lease, LeaseHolder } from './checkpointStore.ts';
import { isSequenceNumber, progressOf, UnreadableCheckpoint } from './checkpointStore.ts';
import { type BlobContent, type BlobLimits, createLabelledBlobs, type LabelledBlob } from './labelledBlobs.ts';

/*
 * The stock Event Hubs clients and KEDA use these names and, before each semicolon, these labels; the others are ours.
 *
 * <namespace>/<hub>/<group>/ownership/<partition>    ownerid; epoch wantedby wantedsince renewedat begun
 * <namespace>/<hub>/<group>/checkpoint/<partition>   sequencenumber offset; note owner epoch of
 *
 * The content of a checkpoint is its completion map (see completionMap): all labels together hold only 8 KB. It is not
 * used when a tool has moved only the position. The format of `note` is in engine/crashRecord. `of` is the blob's own name.
 *
 * Times are by the storage's clock, in milliseconds since 1970. An ownership's renewal is the blob's last modification,
 * unless it has `renewedat`: then another instance has changed it since. No time is later than
 * that modification: with a time in the future, no instance could take the partition over.
 */

/** Of the records. Names are not case-sensitive at the hub, but in the storage (fact storage.names). */
type Place = Readonly<Record<'namespace' | 'hub' | 'consumerGroup', string>>;

const defaultLimits = { attemptMs: 4_000, attempts: 4, pauseMs: 200, verbMs: 15_000 };

/** Attempts to write a checkpoint that others change at the same time. */
const mostRaces = 5;
/** Longer content is cut: the service writes none. */
const mostContentBytes = 4 * 1024 * 1024;

/** For any number of instances. Writes need the etag that was read. A claim writes its epoch on the checkpoint: a late write of the last owner fails. */
export function createBlobStore(options: ContainerAccess & Place & { readonly limits?: BlobLimits }): CheckpointStore {
  const { namespace, hub, consumerGroup, limits = defaultLimits } = options;
  const blobs = createLabelledBlobs(options, 'checkpoint storage', limits);
  const place = [namespace, hub, consumerGroup].join('/').toLowerCase();
  const ownershipName = (partition: string) => `${place}/ownership/${partition}`;
  const checkpointName = (partition: string) => `${place}/checkpoint/${partition}`;
  /** The checkpoints as their readers have last written them, by partition. */
  const written = new Map<string, { readonly reader: LeaseHolder; readonly blob: LabelledBlob }>();
  const read = (name: string, by?: number) => blobs.read(name, mostContentBytes, by);
  const recordOf = (partition: string, blob: LabelledBlob) => readOwnership(partition, blob, blobs.clockAheadMs());

  async function list(nameOf: (partition: string) => string) {
    const prefix = nameOf('');
    return (await blobs.list(prefix)).map((blob) => [blob.name.slice(prefix.length), blob] as const);
  }

  /** @param once undefined when another writer was faster */
  async function racing(partition: string, once: (name: string) => Promise<boolean | undefined>): Promise<boolean> {
    for (let race = 0; race < mostRaces; race += 1) {
      const isDone = await once(checkpointName(partition));
      if (isDone !== undefined) return isDone;
      written.delete(partition);
    }
    const problem = `the checkpoint of partition ${partition} keeps being changed by other writers`;
    throw new Error(`checkpoint storage: ${problem}`);
  }

  async function write(reader: LeaseHolder, seen: LabelledBlob | undefined, given: BlobContent, by: number) {
    const content = { ...given, labels: { ...given.labels, owner: reader.owner, epoch: String(reader.epoch) } };
    const blob = await blobs.change(checkpointName(reader.partition), content, seen?.etag, by);
    if (blob === undefined) return undefined;
    written.set(reader.partition, { reader, blob });
    return true;
  }

  /** Writes the reader's epoch on the checkpoint and keeps its position: later writes of the last owner fail. */
  const stamp = (reader: LeaseHolder, by: number) =>
    racing(reader.partition, async (name) => {
      const current = await read(name, by);
      if (current === undefined || writerEpoch(current) >= reader.epoch) return true;
      return write(reader, current, { labels: current.labels }, by);
    });

  /** The current checkpoint, or `false` when the reader may not write it. */
  async function current(reader: LeaseHolder, by: number): Promise<LabelledBlob | undefined | false> {
    const known = written.get(reader.partition);
    if (known && isSame(known.reader, reader)) return known.blob;
    const [ownership, checkpoint] = await Promise.all([
      read(ownershipName(reader.partition), by),
      read(checkpointName(reader.partition), by),
    ]);
    if (ownership === undefined || !isSame(recordOf(reader.partition, ownership), reader)) return false;
    return writerEpoch(checkpoint) > reader.epoch ? false : checkpoint;
  }

  return {
    ownerships: async () => (await list(ownershipName)).map(([partition, blob]) => recordOf(partition, blob)),

    async change(seen, next) {
      const { partition } = next;
      const by = blobs.deadline();
      if (seen === undefined || !isSame(seen, next)) written.delete(partition);
      const isTaken = next.epoch !== seen?.epoch;
      // The record may have been deleted: its last owner is known by the checkpoint, and keeps its epoch.
      const last = isTaken ? await read(checkpointName(partition), by) : undefined;
      const isLast = last?.labels['owner'] === next.owner && writerEpoch(last) === next.epoch;
      const epoch = isTaken && !isLast ? Math.max(next.epoch, writerEpoch(last) + 1) : next.epoch;
      const labels = ownershipLabels(seen, { ...next, epoch }, blobs.clockAheadMs());
      const blob = await blobs.change(ownershipName(partition), { labels }, seen?.etag, by);
      if (blob === undefined) return undefined;
      if (isTaken) await stamp({ partition, owner: next.owner, epoch }, by);
      return recordOf(partition, blob);
    },

    async progress(partition) {
      const blob = await read(checkpointName(partition));
      return blob && readCheckpoint(blob);
    },

    checkpoints: async () =>
      (await list(checkpointName)).map(([partition, one]) => ({
        partition,
        where: whereIs(one),
        at: sequenceNumberOf(one),
      })),

    async writeCheckpoint(reader, next) {
      const by = blobs.deadline();
      return racing(reader.partition, async (name) => {
        const seen = await current(reader, by);
        if (seen === false) return false;
        const isBehind = seen && (sequenceNumberOf(seen) ?? -1) > next.sequenceNumber;
        if (isBehind && writerEpoch(seen) === reader.epoch) return true;
        return write(reader, seen, isBehind ? { labels: seen.labels } : contentOf(next, name), by);
      });
    },
  };
}

const isSame = (a: Omit<LeaseHolder, 'partition'>, b: typeof a): boolean => a.owner === b.owner && a.epoch === b.epoch;

/** How far a time by the storage's clock, as we know it, may be later than its own. */
const clockNoiseMs = 5_000;

/** A record without labels has no owner. It is not skipped: a claim needs the etag of its blob. */
function readOwnership(partition: string, { labels, etag, modifiedAt }: LabelledBlob, aheadMs: number): Lease {
  const begun = wholeNumber(labels['begun']);
  const wantedSince = wholeNumber(labels['wantedsince']);
  return {
    partition,
    owner: labels['ownerid'] ?? '',
    epoch: epochOf(labels),
    wantedBy: labels['wantedby'] ?? '',
    wantedSince: wantedSince === undefined ? 0 : Math.min(wantedSince, modifiedAt + clockNoiseMs) - aheadMs,
    renewedAt: Math.min(wholeNumber(labels['renewedat']) ?? modifiedAt, modifiedAt) - aheadMs,
    ...(isSequenceNumber(begun) && { begun }),
    etag,
  };
}

/** @param seen the record before: an unchanged `renewedAt` is written as a label, as the modification time changes */
function ownershipLabels(
  seen: Lease | undefined,
  { owner, epoch, wantedBy, wantedSince, renewedAt, begun }: Omit<Lease, 'etag'>,
  aheadMs: number,
): Record<string, string> {
  return {
    ownerid: owner,
    epoch: String(epoch),
    ...(wantedBy !== '' && { wantedby: wantedBy, wantedsince: String(Math.round(wantedSince + aheadMs)) }),
    ...(seen?.renewedAt === renewedAt && { renewedat: String(Math.round(renewedAt + aheadMs)) }),
    ...(begun !== undefined && { begun: String(begun) }),
  };
}

const sequenceNumberOf = ({ labels }: LabelledBlob): number | undefined => wholeNumber(labels['sequencenumber']);

const whereIs = ({ name }: LabelledBlob) => `the blob ${name}`;

/** @throws UnreadableCheckpoint */
function readCheckpoint(blob: LabelledBlob & { readonly content: Buffer }): Checkpoint {
  const where = whereIs(blob);
  const { sequencenumber, offset, note, of = blob.name } = blob.labels;
  if (of !== blob.name) throw new UnreadableCheckpoint(`${where}: it is a copy of ${of}`);
  const sequenceNumber = sequenceNumberOf(blob) ?? sequencenumber;
  const completed = blob.content.toString();
  return progressOf({ sequenceNumber, offset, completed, ...(note !== undefined && { note }) }, where);
}

/** Epoch of the last writer of the checkpoint; 0 when that was another client. */
const writerEpoch = (blob: LabelledBlob | undefined): number => epochOf(blob?.labels ?? {});

const contentOf = ({ sequenceNumber, offset, completed, note }: Checkpoint, of: string): BlobContent => ({
  labels: { sequencenumber: String(sequenceNumber), offset, of, ...(note !== undefined && { note }) },
  content: completed,
});

function wholeNumber(text: string | undefined): number | undefined {
  if (text === undefined || !/^-?\d{1,16}$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** 0 when there is none that the next claim can raise. */
const epochOf = ({ epoch }: LabelledBlob['labels']): number => Math.max(0, wholeNumber(epoch) ?? 0);
