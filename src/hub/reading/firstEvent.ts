import {
  type EventHubConsumerClient,
  type EventPosition,
  earliestEventPosition,
  type ReceivedEventData,
} from '@azure/event-hubs';
import { within } from '../../concurrency/within.ts';

/**
 * The first event of a partition from a position on; undefined when there is none. Reads it beside others, without an epoch: a
 * hub refuses that while an instance reads the partition (fact reading.no-level).
 * @param client of this call alone, which closes it: a client refuses a second subscription to a partition
 */
async function firstEventFrom(
  client: EventHubConsumerClient,
  partition: string,
  startPosition: EventPosition,
  answerMs: number,
): Promise<ReceivedEventData | undefined> {
  const found = new Promise<ReceivedEventData | undefined>((resolve, reject) => {
    client.subscribe(
      partition,
      {
        processEvents: async ([first]) => resolve(first),
        processError: async (error) => reject(error),
      },
      {
        startPosition,
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

/** When the hub received the first event after this offset, or the first of all. */
export async function firstEventTime(
  client: EventHubConsumerClient,
  partition: string,
  after: string | undefined,
  answerMs: number,
): Promise<Date | undefined> {
  const position = after === undefined ? earliestEventPosition : { offset: after, isInclusive: false };
  return (await firstEventFrom(client, partition, position, answerMs))?.enqueuedTimeUtc;
}
