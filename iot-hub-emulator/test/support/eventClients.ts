import { EventHubConsumerClient, EventHubProducerClient } from '@azure/event-hubs';
import type device from 'azure-iot-device';
import type iothub from 'azure-iothub';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Hub } from '../../src/hub.ts';
import { deviceClient, type Listening, listenToEvents, serviceClient } from './clients.ts';

// The official event clients until the end of the test. They repeat nothing.

const options = { retryOptions: { maxRetries: 0, timeoutInMs: 5000 } };

export function eventConsumer(hub: Hub, connectionString = hub.eventsConnectionString): EventHubConsumerClient {
  const client = new EventHubConsumerClient('$Default', connectionString, options);
  onTestFinished(() => client.close());
  return client;
}

export function eventProducer(hub: Hub, policy = 'iothubowner'): EventHubProducerClient {
  const client = new EventHubProducerClient(hub.eventHubConnectionString(policy), options);
  onTestFinished(() => client.close());
  return client;
}

export function listenInTest(...given: Parameters<typeof listenToEvents>): Listening {
  const listening = listenToEvents(...given);
  onTestFinished(() => listening.stop());
  return listening;
}

/** Gives the official service client, open during all tests of a file or group. */
export function serviceForAll(hub: Hub, give: (service: iothub.Client) => void): void {
  let service: iothub.Client;
  beforeAll(async () => {
    service = serviceClient(hub);
    give(service);
    await service.open();
  });
  afterAll(async () => void (await service.close()));
}

/** The official service client, open until the end of the test. */
export async function openService(...given: Parameters<typeof serviceClient>): Promise<iothub.Client> {
  const service = serviceClient(...given);
  onTestFinished(async () => void (await service.close()));
  await service.open();
  return service;
}

/** The official device client, open until the end of the test. What it loses is no error of the test. */
export async function openDevice(...given: Parameters<typeof deviceClient>): Promise<device.Client> {
  const client = await deviceClient(...given);
  client.on('error', () => undefined);
  onTestFinished(async () => void (await client.close().catch(() => undefined)));
  await client.open();
  return client;
}

export interface FeedbackRecord {
  readonly originalMessageId: string;
  readonly statusCode: string;
  readonly deviceId: string;
}

/** Completes each batch of feedback, and then gives its records. */
export async function readFeedback(service: iothub.Client, give: (records: FeedbackRecord[]) => void): Promise<void> {
  const { result: receiver } = (await service.getFeedbackReceiver()) as unknown as {
    result: iothub.Client.ServiceReceiver;
  };
  receiver.on('message', (message: device.Message) => {
    receiver.complete(message as never, () => give(JSON.parse(message.getData().toString())));
  });
}
