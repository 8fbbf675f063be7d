import type { Progress } from '../../engine/progress/tracked.ts';
import { isBegun, type Ownership } from './checkpointStore.ts';
import type { BlobContent, LabelledBlob, WholeBlob } from './labelledBlobs.ts';
import { progressOf, UnreadableCheckpoint } from './storedProgress.ts';

/*
 * The stock Event Hubs clients and KEDA use these names and, before each semicolon, these labels; the others are ours.
 *
 * <namespace>/<hub>/<group>/ownership/<partition>    ownerid; epoch wantedby wantedsince renewedat begun
 * <namespace>/<hub>/<group>/checkpoint/<partition>   sequencenumber offset; note owner epoch of
 *
 * The content of a checkpoint is its completion map (see completionMap): all labels together hold only 8 KB. It is not
 * used when a tool has moved only the position. The format of `note` is in quarantine/crashRecord. `of` is the blob's own name.
 *
 * Times are by the storage's clock, in milliseconds since 1970. An ownership's renewal is the blob's last modification,
 * unless it has `renewedat`: then another instance has changed it since. No time is later than
 * that modification: with a time in the future, no instance could take the partition over.
 */

/** Identifies the records of one consumer group. The names are not case-sensitive at the hub, but in the storage (fact storage.names). */
export interface ConsumerGroupId {
  readonly namespace: string;
  readonly hub: string;
  readonly consumerGroup: string;
}

/** Blob names of this kind are the prefix and the partition. */
export const blobPrefixOf = (
  { namespace, hub, consumerGroup }: ConsumerGroupId,
  kind: 'ownership' | 'checkpoint',
): string => `${[namespace, hub, consumerGroup].join('/').toLowerCase()}/${kind}/`;

/** How far a time by the storage's clock, as we know it, may be later than its own. */
const clockNoiseMs = 5_000;

/** A record without labels has no owner. It is not skipped: a claim needs the etag of its blob. */
export function readOwnership(
  partition: string,
  { labels, etag, modifiedAt }: LabelledBlob,
  aheadMs: number,
): Ownership {
  const begun = wholeNumber(labels['begun']);
  const wantedSince = wholeNumber(labels['wantedsince']);
  return {
    partition,
    owner: labels['ownerid'] ?? '',
    epoch: epochOf(labels),
    wantedBy: labels['wantedby'] ?? '',
    wantedSince: wantedSince === undefined ? 0 : Math.min(wantedSince, modifiedAt + clockNoiseMs) - aheadMs,
    renewedAt: Math.min(wholeNumber(labels['renewedat']) ?? modifiedAt, modifiedAt) - aheadMs,
    ...(isBegun(begun) && { begun }),
    etag,
  };
}

/** @param seen the record before: an unchanged `renewedAt` is written as a label, as the modification time changes */
export function ownershipLabels(
  seen: Ownership | undefined,
  { owner, epoch, wantedBy, wantedSince, renewedAt, begun }: Omit<Ownership, 'etag'>,
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

/** Undefined when the label is missing or malformed. */
export const readSequenceNumber = ({ labels }: LabelledBlob): number | undefined =>
  wholeNumber(labels['sequencenumber']);

/** @throws UnreadableCheckpoint */
export function readProgress(blob: WholeBlob): Progress {
  const where = `the blob ${blob.name}`;
  const { sequencenumber, offset, note, of = blob.name } = blob.labels;
  if (of !== blob.name) throw new UnreadableCheckpoint(`${where}: it is a copy of ${of}`);
  const sequenceNumber = readSequenceNumber(blob) ?? sequencenumber;
  return progressOf({ sequenceNumber, offset, completed: blob.content, ...(note !== undefined && { note }) }, where);
}

/** Epoch of the last writer of the checkpoint; 0 when that was another client. */
export const writerEpoch = (blob: LabelledBlob | undefined): number => epochOf(blob?.labels ?? {});

type Writer = Pick<Ownership, 'owner' | 'epoch'>;

export const progressContent = (
  { sequenceNumber, offset, completed, note }: Progress,
  writer: Writer,
  name: string,
): BlobContent => ({
  labels: {
    sequencenumber: String(sequenceNumber),
    offset,
    of: name,
    ...(note !== undefined && { note }),
    ...labelsOf(writer),
  },
  content: completed,
});

/** Changes only the writer of the checkpoint. */
export const writerContent = ({ labels }: LabelledBlob, writer: Writer): BlobContent => ({
  labels: { ...labels, ...labelsOf(writer) },
});

const labelsOf = ({ owner, epoch }: Writer) => ({ owner, epoch: String(epoch) });

function wholeNumber(text: string | undefined): number | undefined {
  if (text === undefined || !/^-?\d{1,16}$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** 0 when there is none that the next claim can raise. */
const epochOf = ({ epoch }: LabelledBlob['labels']): number => Math.max(0, wholeNumber(epoch) ?? 0);
