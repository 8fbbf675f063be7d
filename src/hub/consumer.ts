import {
  type CheckpointStore,
  EventHubConsumerClient,
  earliestEventPosition,
  latestEventPosition,
  type ReceivedEventData,
  type Subscription,
} from '@azure/event-hubs';
import type { Log } from '../log.ts';
import type { HubEvent } from '../protocol/event.ts';
import { type Arriving, createPartition, type Partition, type PartitionOptions, type Position } from './partition.ts';

/** Reads the hub's event endpoint and feeds the partitions this instance owns. */
export interface Consumer {
  start(): void;
  /** Whether at least one partition is being read. */
  isReading(): boolean;
  /** Stops intake, waits up to the drain limit for what is in work, checkpoints and lets go of the partitions (G3). */
  stop(): Promise<void>;
}

interface ConsumerOptions<A extends Arriving> {
  readonly connectionString: string;
  readonly consumerGroup: string;
  readonly startPosition: 'earliest' | 'latest';
  readonly batchSize: number;
  readonly prefetch: number;
  readonly maxWaitSeconds: number;
  readonly drainMs: number;
  readonly store: CheckpointStore;
  /** What each partition does with its events. */
  readonly partition: (id: string) => Omit<PartitionOptions<A>, 'checkpoint' | 'onCheckpointFailure'>;
  readonly log: Log;
}

export function createConsumer<A extends Arriving>(options: ConsumerOptions<A>): Consumer {
  const { store, log, drainMs } = options;
  const client = new EventHubConsumerClient(options.consumerGroup, options.connectionString, store, {
    loadBalancingOptions: { strategy: 'greedy', updateIntervalInMs: 5_000 },
    retryOptions: { retryDelayInMs: 500, maxRetryDelayInMs: 5_000 },
  });
  const partitions = new Map<string, Partition>();
  let subscription: Subscription | undefined;

  return {
    start() {
      subscription = client.subscribe(
        {
          async processInitialize({ partitionId, fullyQualifiedNamespace, eventHubName, consumerGroup }) {
            const place = { partitionId, fullyQualifiedNamespace, eventHubName, consumerGroup };
            partitions.set(
              partitionId,
              createPartition({
                ...options.partition(partitionId),
                checkpoint: (position: Position) => store.updateCheckpoint({ ...place, ...position }),
                onCheckpointFailure: (error) =>
                  log.error({ err: error, partition: partitionId }, 'checkpoint not written'),
              }),
            );
            log.info({ partition: partitionId }, 'reading partition');
          },
          // An error thrown here would stop the partition or skip the batch (SDK trap): admit never rejects.
          async processEvents(events: ReceivedEventData[], { partitionId }) {
            await partitions.get(partitionId)?.admit(events as readonly HubEvent[]);
          },
          async processError(error, { partitionId }) {
            log.warn({ err: error, partition: partitionId || undefined }, 'trouble while reading the hub');
          },
          async processClose(reason, { partitionId }) {
            const partition = partitions.get(partitionId);
            partitions.delete(partitionId);
            if (reason === 'OwnershipLost') partition?.abandon();
            const left = await partition?.drain(drainMs);
            log.info({ partition: partitionId, reason, left }, 'left partition');
          },
        },
        {
          startPosition: options.startPosition === 'earliest' ? earliestEventPosition : latestEventPosition,
          maxBatchSize: options.batchSize,
          prefetchCount: options.prefetch,
          maxWaitTimeInSeconds: options.maxWaitSeconds,
          skipParsingBodyAsJson: true, // the SDK's parser damages 64-bit numbers
        },
      );
    },
    isReading: () => partitions.size > 0,
    async stop() {
      await subscription?.close();
      await client.close();
    },
  };
}
