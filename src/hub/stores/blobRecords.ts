import type { Ownership } from '../balance.ts';
import type { Progress } from '../checkpoints.ts';
import type { LabelledBlob } from './labelledBlobs.ts';

/*
 * Names and labels are those of the stock Event Hubs clients, so that they and KEDA find the position; the rest is ours.
 *
 * <namespace>/<hub>/<group>/ownership/<partition>    ownerid; epoch wantedby wantedsince renewedat begun
 * <namespace>/<hub>/<group>/checkpoint/<partition>   sequencenumber offset; completed owner epoch
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

/** Undefined when the blob says no position. */
export function readProgress({ labels }: LabelledBlob): Progress | undefined {
  const { sequencenumber, offset, completed = '' } = labels;
  const sequenceNumber = wholeNumber(sequencenumber);
  return sequenceNumber === undefined || offset === undefined ? undefined : { sequenceNumber, offset, completed };
}

/** Of whoever last wrote the checkpoint; 0 when it was another client. */
export const writerEpoch = (blob: LabelledBlob | undefined): number => wholeNumber(blob?.labels['epoch']) ?? 0;

export const progressLabels = (
  { sequenceNumber, offset, completed }: Progress,
  { owner, epoch }: Pick<Ownership, 'owner' | 'epoch'>,
): Record<string, string> => ({
  sequencenumber: String(sequenceNumber),
  offset,
  ...(completed !== '' && { completed }),
  owner,
  epoch: String(epoch),
});

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^-?\d{1,16}$/.test(text) ? Number(text) : undefined;
