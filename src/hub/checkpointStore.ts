import { randomUUID } from 'node:crypto';
import type { Checkpoint, CheckpointStore, PartitionOwnership } from '@azure/event-hubs';
import type { CheckpointFile } from './checkpointFile.ts';

/**
 * Progress and ownership for one instance. Checkpoints go through `file` when there is one; ownership lives and dies
 * with the process, since nobody else competes for it.
 */
export function createCheckpointStore(file?: CheckpointFile): CheckpointStore {
  const ownerships = new Map<string, PartitionOwnership>();
  const checkpoints = new Map<string, Checkpoint>(file?.read().map((checkpoint) => [keyOf(checkpoint), checkpoint]));

  return {
    async listOwnership(namespace, hub, group) {
      return [...ownerships.values()].filter(isOf(namespace, hub, group)).map((one) => ({ ...one }));
    },
    async claimOwnership(claims) {
      return claims.flatMap((claim) => {
        const key = keyOf(claim);
        if (ownerships.get(key)?.etag !== claim.etag) return [];
        const owned = { ...claim, etag: randomUUID(), lastModifiedTimeInMs: Date.now() };
        ownerships.set(key, owned);
        return [{ ...owned }];
      });
    },
    async updateCheckpoint(checkpoint) {
      checkpoints.set(keyOf(checkpoint), checkpoint);
      await file?.write([...checkpoints.values()]);
    },
    async listCheckpoints(namespace, hub, group) {
      return [...checkpoints.values()].filter(isOf(namespace, hub, group));
    },
  };
}

interface Place {
  readonly fullyQualifiedNamespace: string;
  readonly eventHubName: string;
  readonly consumerGroup: string;
}

const keyOf = ({
  fullyQualifiedNamespace,
  eventHubName,
  consumerGroup,
  partitionId,
}: Place & { partitionId: string }) =>
  JSON.stringify([fullyQualifiedNamespace, eventHubName, consumerGroup, partitionId]);

const isOf = (namespace: string, hub: string, group: string) => (place: Place) =>
  place.fullyQualifiedNamespace === namespace && place.eventHubName === hub && place.consumerGroup === group;
