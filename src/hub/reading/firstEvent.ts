import { type EventHubConsumerClient, earliestEventPosition } from '@azure/event-hubs';
import { within } from '../../concurrency/within.ts';

/**
 * When the hub received the first event of a partition after this offset, or the first of all; undefined when there is
 * none. Reads it beside others, without an epoch: a hub refuses that while an instance reads the partition.
 * @param client of this call alone, which closes it: a client refuses a second subscription to a partition
 */
export async function firstEventTime(
  client: EventHubConsumerClient,
  partition: string,
  after: string | undefined,
  answerMs: number,
): Promise<Date | undefined> {
  const found = new Promise<Date | undefined>((resolve, reject) => {
    client.subscribe(
      partition,
      {
        processEvents: async ([first]) => resolve(first?.enqueuedTimeUtc),
        processError: async (error) => reject(error),
      },
      {
        startPosition: after === undefined ? earliestEventPosition : { offset: after, isInclusive: false },
        maxBatchSize: 1,
        prefetchCount: 1,
        maxWaitTimeInSeconds: 5,
        skipParsingBodyAsJson: true,
      },
    );
  });
  try {
    return await within(found, answerMs);
  } finally {
    void client.close().catch(() => undefined);
  }
}
