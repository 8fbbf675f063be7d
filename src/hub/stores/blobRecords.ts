import type { Progress } from '../partition/checkpoints.ts';
import type { Position } from '../partition/watermark.ts';
import type { BlobContent, LabelledBlob, WholeBlob } from './labelledBlobs.ts';
import type { Ownership } from './store.ts';

/*
 * The stock Event Hubs clients and KEDA use these names and, before each semicolon, these labels; the others are ours.
 *
 * <namespace>/<hub>/<group>/ownership/<partition>    ownerid; epoch wantedby wantedsince renewedat begun
 * <namespace>/<hub>/<group>/checkpoint/<partition>   sequencenumber offset; note owner epoch
 *
 * The content of a checkpoint is its completion map (see completionMap): all labels together hold only 8 KB. It is not
 * used when a tool has moved only the position. The format of `note` is in quarantine/note.
 *
 * Times are by the storage's clock, in milliseconds since 1970. An ownership's renewal is the blob's last modification,
 * unless it has `renewedat`: then another instance has changed it since.
 */

/** Identifies the records of one consumer group. The names are not case-sensitive at the hub. */
export interface BlobPlace {
  readonly namespace: string;
  readonly hub: string;
  readonly consumerGroup: string;
}

/** Blob names of this kind are the prefix and the partition. */
export const prefixOf = ({ namespace, hub, consumerGroup }: BlobPlace, kind: 'ownership' | 'checkpoint'): string =>
  `${[namespace, hub, consumerGroup].join('/').toLowerCase()}/${kind}/`;

/** A record without labels has no owner. It is not skipped: a claim needs the etag of its blob. */
export function readOwnership(
  partition: string,
  { labels, etag, modifiedAt }: LabelledBlob,
  aheadMs: number,
): Ownership {
  const begun = wholeNumber(labels['begun']);
  return {
    partition,
    owner: labels['ownerid'] ?? '',
    epoch: wholeNumber(labels['epoch']) ?? 0,
    wantedBy: labels['wantedby'] ?? '',
    wantedSince: labels['wantedsince'] === undefined ? 0 : (wholeNumber(labels['wantedsince']) ?? 0) - aheadMs,
    renewedAt: (wholeNumber(labels['renewedat']) ?? modifiedAt) - aheadMs,
    ...(begun !== undefined && { begun }),
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

/** Undefined when the labels are missing or malformed. */
export function readPosition({ labels: { sequencenumber, offset } }: LabelledBlob): Position | undefined {
  const sequenceNumber = wholeNumber(sequencenumber);
  return sequenceNumber === undefined || offset === undefined ? undefined : { sequenceNumber, offset };
}

export function readProgress(blob: WholeBlob): Progress | undefined {
  const position = readPosition(blob);
  const { note } = blob.labels;
  return position && { ...position, completed: blob.content, ...(note !== undefined && { note }) };
}

/** Epoch of the last writer of the checkpoint; 0 when that was another client. */
export const writerEpoch = (blob: LabelledBlob | undefined): number => wholeNumber(blob?.labels['epoch']) ?? 0;

type Writer = Pick<Ownership, 'owner' | 'epoch'>;

export const progressContent = (
  { sequenceNumber, offset, completed, note }: Progress,
  writer: Writer,
): BlobContent => ({
  labels: {
    sequencenumber: String(sequenceNumber),
    offset,
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

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^-?\d{1,16}$/.test(text) ? Number(text) : undefined;
