import type { Progress } from '../partition/checkpoints.ts';
import type { Position } from '../partition/watermark.ts';
import type { Ownership } from '../reading/balance.ts';
import type { Inscription, LabelledBlob } from './labelledBlobs.ts';

/*
 * Names and labels are those of the stock Event Hubs clients, so that they and KEDA find the position; the rest is ours.
 *
 * <namespace>/<hub>/<group>/ownership/<partition>    ownerid; epoch wantedby wantedsince renewedat begun
 * <namespace>/<hub>/<group>/checkpoint/<partition>   sequencenumber offset; completed note owner epoch
 *
 * completed = sequencenumber ":" ( map | "content" )   see completionMap; "content": the blob's content is the map
 *
 * Labels hold 8 KB together, so a long map goes into the content. It is void when the blob says another sequencenumber:
 * whoever moved the position did not mean this map, and content that no label speaks of is left over from before.
 *
 * note = see note; there is none in normal times
 *
 * Times are by the storage's clock, in milliseconds since 1970. An ownership's renewal is the blob's last modification,
 * unless it says renewedat: then somebody else than the owner has changed it since.
 */

const longestInLabel = 4_096;

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

/** Undefined when there is none. */
export const readNote = ({ labels: { note } }: LabelledBlob): string | undefined => note;

/** In the place of a map that is the blob's content. */
export const inContent = 'content';

/** The map, or where it is; empty when there is none for the blob's position. */
export function readCompleted({ labels: { sequencenumber, completed = '' } }: LabelledBlob): string {
  const [position, map = ''] = completed.split(':');
  return position === sequencenumber ? map : '';
}

/** Of whoever last wrote the checkpoint; 0 when it was another client. */
export const writerEpoch = (blob: LabelledBlob | undefined): number => wholeNumber(blob?.labels['epoch']) ?? 0;

type Writer = Pick<Ownership, 'owner' | 'epoch'>;

export function inscribeProgress({ sequenceNumber, offset, completed, note }: Progress, writer: Writer): Inscription {
  const isLong = completed.length > longestInLabel;
  const labels = {
    sequencenumber: String(sequenceNumber),
    offset,
    ...(completed !== '' && { completed: `${sequenceNumber}:${isLong ? inContent : completed}` }),
    ...(note !== undefined && { note }),
    ...labelsOf(writer),
  };
  return isLong ? { labels, content: completed } : { labels };
}

/** The checkpoint as it is, under another writer's name. */
export const inscribeWriter = ({ labels }: LabelledBlob, writer: Writer): Inscription => ({
  labels: { ...labels, ...labelsOf(writer) },
});

const labelsOf = ({ owner, epoch }: Writer) => ({ owner, epoch: String(epoch) });

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^-?\d{1,16}$/.test(text) ? Number(text) : undefined;
