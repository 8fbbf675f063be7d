import type { CheckpointStore, Lease } from '../../../src/stores/checkpointStore.ts';

/** The record of a partition that an instance claims. */
export const claimed = (owner: string, epoch: number, partition = '0') => ({
  partition,
  owner,
  epoch,
  wantedBy: '',
  wantedSince: 0,
  renewedAt: Date.now(),
});

/** Claims a partition as it stands, also one that another instance has. */
export async function takeOver(store: CheckpointStore, owner: string, partition = '0'): Promise<Lease> {
  const seen = (await store.ownerships()).find((one) => one.partition === partition);
  const record = await store.change(seen, claimed(owner, (seen?.epoch ?? 0) + 1, partition));
  if (record === undefined) throw new Error('another instance was faster');
  return record;
}
