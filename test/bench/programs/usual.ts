import { randomUUID } from 'node:crypto';
import { EventHubConsumerClient, earliestEventPosition, type ReceivedEventData } from '@azure/event-hubs';
import axios from 'axios';
import { Client } from 'azure-iothub';
import { Message } from '../../../src/hub/serviceSdk.ts';
import { environment } from './environment.ts';

/**
 * What a good engineer writes from the samples of the SDKs in an afternoon: subscribe, a loop in order, axios as it
 * comes, one reply after the other. Written once; it changes only in a commit of its own.
 */

const { eventsConnectionString, serviceConnectionString, backendsUrl } = environment;
const consumer = new EventHubConsumerClient('$Default', eventsConnectionString);
const client = Client.fromConnectionString(serviceConnectionString);
await client.open();

const http = axios.create({
  baseURL: backendsUrl,
  headers: { Authorization: 'Bearer bench', 'Content-Type': 'application/json' },
  validateStatus: (status) => status < 300 || status === 404,
});
const of = (device: string) => ({ headers: { 'x-svc-device-id': device } });

type Fields = Record<string, unknown>;

async function update(device: string, objectId: string, body: Fields): Promise<Fields> {
  const { data } = await http.put(`/im/objects/${objectId}/models/svc.device`, body, of(device));
  return { objectId, model: 'svc.device', version: data.version };
}

async function create(device: string, id: string, body: Fields): Promise<Fields> {
  const owner = await http.get('/pm/devices', { params: { device }, ...of(device) });
  const type = await http.get(`/tr/modelDefinitions/${body['model']}/types/${body['type']}`, of(device));
  const properties = body['properties'] as Fields;
  const unique = Object.fromEntries(type.data.uniqueProperties.map((name: string) => [name, properties[name]]));
  await http.post('/im/query', { model: body['model'], type: body['type'], properties: unique }, of(device));
  const objectId = randomUUID();
  const stored = await http.post(
    '/im/object',
    { objectId, ...body },
    { params: { owner: owner.data.data[0].id }, ...of(device) },
  );
  const configuration = await http.get(`/im/objects/${objectId}/models/svc.configuration`, of(device));
  await send(device, configuration.data, {
    'svc-messagetype': 'platformEvent',
    eventType: 'Svc.InformationModel.ObjectModelCreated',
    id,
    objectId,
    model: 'svc.configuration',
  });
  return { objectId, relatedModels: stored.data.relatedModels };
}

async function send(device: string, body: Fields, properties: Readonly<Record<string, string>>): Promise<void> {
  const message = new Message(JSON.stringify(body));
  message.messageId = randomUUID();
  for (const [name, value] of Object.entries(properties)) message.properties.add(name, value);
  await client.send(device, message);
}

async function handle({ body, properties = {}, systemProperties = {} }: ReceivedEventData): Promise<void> {
  if (properties['msgType'] !== 'action') return;
  const device = systemProperties['iothub-connection-device-id'];
  const fields =
    properties['action'] === 'model.update'
      ? await update(device, properties['objectId'], body)
      : await create(device, properties['correlationId'], body);
  const acknowledgement = { success: true, code: 'ok', details: '', ...fields };
  await send(device, acknowledgement, {
    msgType: 'ack',
    action: properties['action'],
    version: '2',
    correlationId: properties['correlationId'],
    timestamp: new Date().toISOString(),
  });
}

consumer.subscribe(
  {
    async processEvents(events) {
      for (const event of events) await handle(event);
    },
    async processError(error) {
      process.stderr.write(`${error.stack}\n`);
    },
  },
  { startPosition: earliestEventPosition, maxBatchSize: 100 },
);
process.send?.('ready');
