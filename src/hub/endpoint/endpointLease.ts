import type { Ownerships } from '../reading/ownerships.ts';
import type { CheckpointStore } from '../stores/checkpointStore.ts';
import { type EventEndpoint, nameOf } from './eventEndpoint.ts';

/**
 * Takes the lease of the endpoint that the instances of a hub read, unless another instance owns a partition of the one that they have
 * read before: it may have earlier messages of the same devices (D402).
 * @param isForced takes it in any case
 * @returns whether the endpoint may be read
 */
export type TakeEndpoint = (endpoint: EventEndpoint, isForced: boolean) => Promise<boolean>;

interface EndpointLeaseOptions {
  /** Of the hub itself: the owner in its one record is an endpoint. */
  readonly records: Pick<CheckpointStore, 'ownerships' | 'change'>;
  readonly ownershipsAt: (endpoint: EventEndpoint) => Promise<Pick<Ownerships, 'look'>>;
  readonly expiryMs: number;
}

export function createEndpointLease({ records, ownershipsAt, expiryMs }: EndpointLeaseOptions): TakeEndpoint {
  async function isLeft(name: string): Promise<boolean> {
    const [namespace = '', eventHub = ''] = name.split('/');
    const ownerships = await ownershipsAt({ namespace, eventHub });
    return (await ownerships.look()).every(({ owner, unrenewedMs }) => owner === '' || unrenewedMs >= expiryMs);
  }

  return async (endpoint, isForced) => {
    const owner = nameOf(endpoint).toLowerCase(); // names have no case
    const [seen] = await records.ownerships();
    if (seen?.owner === owner) return true;
    if (seen !== undefined && !isForced && !(await isLeft(seen.owner))) return false;
    const next = { partition: 'endpoint', owner, epoch: (seen?.epoch ?? 0) + 1, renewedAt: 0 };
    return (await records.change(seen, { ...next, wantedBy: '', wantedSince: 0 })) !== undefined;
  };
}
