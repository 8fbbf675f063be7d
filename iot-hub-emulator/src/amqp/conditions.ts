import { randomUUID } from 'node:crypto';
import type { Reason } from '../network/connections.ts';
import { Refusal } from '../values/refusal.ts';

// The event endpoint's refusals in the words of the real one, as docs/facts.md says where they were seen.

/** A refusal as a gateway of Event Hubs signs it: each one is different from the last, whatever it is about. */
function traced(condition: string, text: string): Refusal {
  const id = randomUUID().replaceAll('-', '');
  const time = new Date().toISOString().slice(0, 19);
  return new Refusal(condition, `${text} TrackingId:${id}_G1, SystemTracker:gateway5, Timestamp:${time}`);
}

/** No token on the connection gives the right to use `address`. */
export function claimRequired(claim: 'Listen' | 'Send', hubName: string, address: string): Refusal {
  const resource = `sb://${hubName}.servicebus.windows.net/${address}`.toLowerCase();
  return traced(
    'amqp:unauthorized-access',
    `Unauthorized access. '${claim}' claim(s) are required to perform this operation. Resource: '${resource}'.`,
  );
}

/** There are `count` partitions, and the one that was named is none of them. */
export function noSuchPartition(count: number): Refusal {
  const range = `It should be between 0 and ${count - 1}.`;
  return traced(
    'com.microsoft:argument-out-of-range',
    `The specified partition is invalid for an EventHub partition sender or receiver. ${range}\nParameter name: PartitionId`,
  );
}

/** A receiver wants to start behind the last event. */
export function beyondEnd(what: 'offset' | 'sequence number', value: number, last: number): Refusal {
  return traced(
    'com.microsoft:argument-error',
    `The supplied ${what} '${value}' is invalid. The last ${what} in the system is '${last}'`,
  );
}

/** A receiver wants to start before the oldest event: a hub that is known takes it. */
export function beforeOldest(value: number, first: number): Refusal {
  return traced(
    'com.microsoft:argument-error',
    `The supplied sequence number '${value}' is invalid. The first sequence number in the system is '${first}'`,
  );
}

/** A message is larger than the link takes. */
export function messageTooLarge(deliveryId: number, size: number, most: number): Refusal {
  return traced(
    'amqp:link:message-size-exceeded',
    `The received message (delivery-id:${deliveryId}, size:${size} bytes) exceeds the limit (${most} bytes) currently allowed on the link.`,
  );
}

/** A connection has had no link for so many milliseconds. */
export function connectionUnused(container: string, ms: number): Reason {
  return reasonOf(
    traced(
      'amqp:connection:forced',
      `The connection was closed by container '${container}' because it did not have any active links in the past ${ms} milliseconds.`,
    ),
  );
}

/** A link on which no events have come for so many milliseconds. */
export function publisherIdle(link: string, ms: number): Reason {
  const time = new Date(ms).toISOString().slice(11, 19);
  return reasonOf(
    traced(
      'amqp:link:detach-forced',
      `The link '${link}' is force detached by the broker due to errors occurred in publisher(${link}). Detach origin: AmqpEventHubPublisher.IdleTimerExpired: Idle timeout: ${time}.`,
    ),
  );
}

const reasonOf = ({ condition, message: description }: Refusal): Reason => ({ condition, description });

/** How a receiver is called that gave itself no name. */
const named = (name: string | undefined): string => name ?? 'nil';

/** A receiver with an owner level lower than that of one that is there. */
export function lowerEpoch(present: PartitionReceiver, late: PartitionReceiver): Refusal {
  return stolen(
    `Receiver '${named(present.name)}' with a higher epoch '${present.epoch}' already exists. Receiver '${named(late.name)}' with epoch ${late.epoch} cannot be created. Make sure you are creating receiver with increasing epoch value to ensure connectivity, or ensure all old epoch receivers are closed or disconnected.`,
  );
}

/** A receiver without an owner level beside one that has one. */
export function epochRequired({ epoch }: PartitionReceiver): Refusal {
  return stolen(
    `At least one receiver for the endpoint is created with epoch of '${epoch}', and so non-epoch receiver is not allowed. Either reconnect with a higher epoch, or make sure all epoch receivers are closed or disconnected.`,
  );
}

/** A receiver that another one with an owner level drives out. */
export function replacedByEpoch(late: PartitionReceiver, present: PartitionReceiver): Refusal {
  return stolen(
    `New receiver '${named(late.name)}' with higher epoch of '${late.epoch}' is created hence current receiver '${named(present.name)}' with epoch '${present.epoch ?? -1}' is getting disconnected. If you are recreating the receiver, make sure a higher epoch is used.`,
  );
}

/** One more receiver without an owner level than there may be. */
export function tooManyReceivers(present: readonly PartitionReceiver[]): Refusal {
  const names = present.map(({ name }) => named(name)).join(', ');
  return traced(
    'amqp:resource-limit-exceeded',
    `Exceeded the maximum number of allowed receivers per partition in a consumer group which is ${present.length}. List of connected receivers - ${names}.`,
  );
}

/** A receiver of a partition, as these texts name it. */
interface PartitionReceiver {
  readonly name: string | undefined;
  readonly epoch: number | undefined;
}

const stolen = (text: string) => traced('amqp:link:stolen', text);
