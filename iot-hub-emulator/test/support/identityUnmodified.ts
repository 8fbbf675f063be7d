import { EventHubConsumerClient, EventHubProducerClient, earliestEventPosition } from '@azure/event-hubs';
import { ManagedIdentityCredential, WorkloadIdentityCredential } from '@azure/identity';
import device from 'azure-iot-device';
import iothub from 'azure-iothub';

// A program of its own, started with NODE_EXTRA_CA_CERTS and the variables of the platform: the official clients with the
// official credentials. argv: what to do, the hub's host, the port of its event endpoint, and more. Prints the outcome.

const [what = '', host = '', port = '', ...more] = process.argv.slice(2);
const { AUTHORITY: authorityHost } = process.env;
const credential =
  authorityHost === undefined
    ? new ManagedIdentityCredential()
    : new WorkloadIdentityCredential({ authorityHost, disableInstanceDiscovery: true });
const endpoint = { customEndpointAddress: `sb://${host}:${port}`, retryOptions: { maxRetries: 0 } };

const verbs: Record<string, () => Promise<string>> = {
  async send() {
    const [deviceId = '', body = ''] = more;
    const client = iothub.Client.fromTokenCredential(`${host}:${port}`, credential);
    client.setRetryPolicy({ shouldRetry: () => false, nextRetryTimeout: () => -1 });
    await client.open();
    const { result } = await client.send(deviceId, new device.Message(body) as never);
    await client.close();
    return result?.constructor.name ?? 'nothing';
  },
  async read() {
    const [eventHub = ''] = more;
    const client = new EventHubConsumerClient('$Default', host, eventHub, credential, endpoint);
    const { partitionIds } = await client.getEventHubProperties();
    const first = new Promise<string>((resolve, reject) => {
      client.subscribe(
        {
          async processEvents([event]) {
            if (event) resolve(JSON.stringify({ stamps: event.systemProperties, partitions: partitionIds.length }));
          },
          processError: async (error) => reject(error),
        },
        { startPosition: earliestEventPosition, maxWaitTimeInSeconds: 1 },
      );
    });
    return await first.finally(() => client.close());
  },
  async write() {
    const [eventHub = '', deviceId = ''] = more;
    const client = new EventHubProducerClient(host, eventHub, credential, endpoint);
    const amqp = { body: 'forged', messageAnnotations: { 'iothub-connection-device-id': deviceId }, bodyType: 'data' };
    await client.sendBatch([amqp as never]);
    await client.close();
    return 'sent';
  },
};

const causeOf = (error: Error & { amqpError?: Error }): Error =>
  error.amqpError instanceof Error && error.amqpError !== error ? error.amqpError : error;
const done = verbs[what]?.() ?? Promise.reject(new Error('no such verb'));
process.stdout.write(await done.catch((error: Error) => `${causeOf(error).name}: ${causeOf(error).message}`));
process.exit();
