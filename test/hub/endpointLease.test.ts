import { expect, it } from 'vitest';
import { createEndpointLease } from '../../src/hub/reading/foundEndpoint.ts';
import { createLeases } from '../../src/hub/reading/leases.ts';
import { createBlobStore } from '../../src/stores/blobCheckpoints.ts';
import { storageForAll } from '../support/storageAccount.ts';
import { takeOver } from './support/claims.ts';

const storage = storageForAll();
const storeAt = (namespace: string, hub: string) =>
  createBlobStore({
    account: storage.connectionString,
    ...{ container: 'leases', namespace, hub, consumerGroup: '$Default' },
  });
const [east, west] = ['east', 'west'].map((eventHub) => ({ namespace: 'n.example:5671', eventHub })) as [Place, Place];
type Place = { readonly namespace: string; readonly eventHub: string };

it('in blobs, an endpoint is taken when no other instance owns a partition of the one before, or by force', async () => {
  const leasesAt = async ({ namespace, eventHub }: Place) =>
    createLeases(storeAt(namespace, eventHub), 'me', 20_000, 10_000);
  const take = createEndpointLease(storeAt('hub.example', 'hub'), leasesAt, 30_000);
  await takeOver(storeAt(east.namespace, east.eventHub), 'other');
  const inCapitals = { ...east, namespace: 'N.EXAMPLE:5671' }; // names have no case
  expect([await take(east, false), await take(inCapitals, false)]).toEqual([true, true]);
  expect([await take(west, false), await take(west, true), await take(west, false)]).toEqual([false, true, true]);
  expect([await take(east, false), await take(west, false)]).toEqual([true, false]);
});
