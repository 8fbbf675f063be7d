import { readFileSync } from 'node:fs';
import {
  type CheckpointStore,
  EventHubConsumerClient,
  type ReceivedEventData,
  type SubscribeOptions,
  type Subscription,
  type SubscriptionEventHandlers,
} from '@azure/event-hubs';
import device from 'azure-iot-device';
import iothub from 'azure-iothub';
import type { Hub } from 'iot-hub-emulator';
import { message } from 'rhea';
import { withSettings } from '../../../iot-hub-emulator/test/support/clients.ts';

// The official clients as they are installed, with no cure and no setting that hides a trap.

/** The service client; all but its trust in the hub's authority is as an application has it. Its retry policy is the default. */
export function plainService(hub: Hub, trust = true): iothub.Client {
  const sslOptions = { ca: readFileSync(hub.caFile, 'utf8') };
  const transport = trust ? withSettings(iothub.Amqp, { sslOptions }) : iothub.Amqp;
  return iothub.Client.fromConnectionString(hub.serviceConnectionString, transport);
}

export const transportOf = (client: iothub.Client): object => Reflect.get(client, '_transport') as object;

export const send = (client: iothub.Client, deviceId: string, body: string): Promise<{ result?: unknown }> =>
  client.send(deviceId, new device.Message(body) as never);

export function append(hub: Hub, body: string | Buffer, fields: object = {}): void {
  hub.partitions[0]?.append((place) =>
    message.encode({
      message_annotations: {
        'x-opt-sequence-number': place.sequenceNumber,
        'x-opt-offset': String(place.offset),
        'x-opt-enqueued-time': place.enqueuedTime,
      },
      ...fields,
      body: message.data_section(Buffer.from(body)),
    }),
  );
}

export const bodies = (events: readonly ReceivedEventData[]): string[] => events.map(({ body }) => String(body));

/** Subscribe to partition 0 and hear of everything; what `handlers` does is up to the trap. */
export function subscribe(
  hub: Hub,
  handlers: Partial<SubscriptionEventHandlers>,
  settings: SubscribeOptions = {},
): { subscription: Subscription; stop(): Promise<void> } {
  const client = new EventHubConsumerClient('$Default', hub.eventsConnectionString);
  const complete: SubscriptionEventHandlers = {
    processEvents: async () => undefined,
    processError: async () => undefined,
    ...handlers,
  };
  const subscription = client.subscribe('0', complete, {
    ...{ startPosition: { offset: '-1' }, maxWaitTimeInSeconds: 1, skipParsingBodyAsJson: true },
    ...settings,
  });
  return {
    subscription,
    async stop() {
      await subscription.close();
      await client.close();
    },
  };
}

export function memoryStore(): CheckpointStore & { claims: Map<string, number> } {
  const owners = new Map<string, Awaited<ReturnType<CheckpointStore['listOwnership']>>[number]>();
  const positions = new Map<string, Awaited<ReturnType<CheckpointStore['listCheckpoints']>>[number]>();
  const claims = new Map<string, number>();
  let tag = 0;
  return {
    claims,
    listOwnership: async () => [...owners.values()],
    async claimOwnership(wanted) {
      const got = wanted.filter(({ partitionId, etag }) => owners.get(partitionId)?.etag === etag);
      return got.map((ownership) => {
        tag += 1;
        const claimed = { ...ownership, etag: String(tag), lastModifiedTimeInMs: Date.now() };
        owners.set(ownership.partitionId, claimed);
        claims.set(ownership.partitionId, (claims.get(ownership.partitionId) ?? 0) + 1);
        return claimed;
      });
    },
    async updateCheckpoint(checkpoint) {
      positions.set(checkpoint.partitionId, checkpoint);
    },
    listCheckpoints: async () => [...positions.values()],
  };
}
