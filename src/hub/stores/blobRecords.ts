import type { Progress } from '../partition/checkpoints.ts';
import type { Position } from '../partition/watermark.ts';
import type { BlobContent, LabelledBlob, WholeBlob } from './labelledBlobs.ts';
import type { Ownership } from './store.ts';

/*
 * Names and labels are those of the stock Event Hubs clients, so that they and KEDA find the position; the rest is ours.
 *
 * <namespace>/<hub>/<group>/ownership/<partition>    ownerid; epoch wantedby wantedsince renewedat begun
 * <namespace>/<hub>/<group>/checkpoint/<partition>   sequencenumber offset; note owner epoch
 *
 * The content of a checkpoint is its completion map (see completionMap): labels hold only 8 KB together. It says nothing
 * when somebody has moved the position alone.
 *
 * note = see note; there is none in normal times
 *
 * Times are by the storage's clock, in milliseconds since 1970. An ownership's renewal is the blob's last modification,
 * unless it says renewedat: then somebody else than the owner has changed it since.
 */

/** Where the records of one consumer group lie. The hub does not tell upper from lower case in these names. */
export interface BlobPlace {
  readonly namespace: string;
  readonly hub: string;
  readonly consumerGroup: string;
}

/** Names of the group's blobs of a kind, up to the partition. */
export const prefixOf = ({ namespace, hub, consumerGroup }: BlobPlace, kind: 'ownership' | 'checkpoint'): string =>
  `${[namespace, hub, consumerGroup].join('/').toLowerCase()}/${kind}/`;

/** A record without labels has no owner: to leave it out would make its partition impossible to claim. */
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

/** @param seen to tell whether this is a sign of life of the owner */
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

/** Undefined when the blob says none. */
export function readPosition({ labels: { sequencenumber, offset } }: LabelledBlob): Position | undefined {
  const sequenceNumber = wholeNumber(sequencenumber);
  return sequenceNumber === undefined || offset === undefined ? undefined : { sequenceNumber, offset };
}

/** Undefined when the blob says no position. */
export function readProgress(blob: WholeBlob): Progress | undefined {
  const position = readPosition(blob);
  const { note } = blob.labels;
  return position && { ...position, completed: blob.content, ...(note !== undefined && { note }) };
}

/** Of whoever last wrote the checkpoint; 0 when it was another client. */
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

/** The checkpoint as it is, under another writer's name. */
export const writerContent = ({ labels }: LabelledBlob, writer: Writer): BlobContent => ({
  labels: { ...labels, ...labelsOf(writer) },
});

const labelsOf = ({ owner, epoch }: Writer) => ({ owner, epoch: String(epoch) });

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^-?\d{1,16}$/.test(text) ? Number(text) : undefined;
