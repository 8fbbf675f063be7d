import { atMost } from '../../concurrency/atMost.ts';
import { within } from '../../concurrency/within.ts';
import type { EventsAccess } from '../../identity/access.ts';
import { openEventClient } from './eventHubConnection.ts';
import { ofHub } from './hubFailure.ts';

/** What the hub keeps of one partition. */
export interface PartitionExtent {
  readonly partition: string;
  /** Sequence numbers. */
  readonly first: number;
  readonly last: number;
  /** When the hub received the last event. */
  readonly lastAt: Date;
  readonly isEmpty: boolean;
}

/** The hub answers 50 such questions a second, of all clients together: the instances that run need some. */
const questions = 4;
const closesWithinMs = 1_000;

/**
 * Asks the hub what it keeps, through its `$management` node alone: a receiver could take a partition from its reader.
 * @throws HubFailure
 */
export async function readHubExtent(
  access: EventsAccess,
  consumerGroup: string,
  answerMs: number,
): Promise<readonly PartitionExtent[]> {
  const client = openEventClient(access, consumerGroup, {
    retryOptions: { maxRetries: 0, timeoutInMs: answerMs },
  });
  const inTurn = atMost(questions);
  try {
    return await ofHub(
      within(
        client
          .getPartitionIds()
          .then((ids) => Promise.all(ids.map((id) => inTurn(() => client.getPartitionProperties(id))))),
        answerMs,
      ),
    ).then((all) =>
      all.map(({ partitionId, beginningSequenceNumber, lastEnqueuedSequenceNumber, lastEnqueuedOnUtc, isEmpty }) => ({
        ...{ partition: partitionId, first: beginningSequenceNumber, last: lastEnqueuedSequenceNumber },
        ...{ lastAt: lastEnqueuedOnUtc, isEmpty },
      })),
    );
  } finally {
    await within(client.close(), closesWithinMs).catch(() => undefined);
  }
}
