import { randomUUID } from 'node:crypto';
import rhea from 'rhea';
import { Pool } from 'undici';
import { receive, send } from './bareHub.ts';
import { environment } from './environment.ts';

/**
 * The least that the work can cost: bare rhea to receive and send, undici, the same calls to the backends and the same
 * replies. No order, no validation, no log, no retry, no checkpoint. Written once; it is what the service is measured
 * against, so it changes only in a commit of its own.
 */

const pool = new Pool(new URL(environment.backendsUrl).origin, { connections: 64 });

/** A body of text, or none, and the answer's. */
async function call(
  method: 'GET' | 'PUT' | 'POST',
  path: string,
  device: string,
  body?: string | Buffer,
): Promise<string> {
  const answer = await pool.request({
    method,
    path,
    headers: {
      authorization: 'Bearer bench',
      'x-svc-device-id': device,
      'x-correlation-id': device,
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      ...(method !== 'GET' && { 'content-type': 'application/json', 'idempotency-key': device }),
    },
    ...(body !== undefined && { body }),
  });
  return answer.body.text();
}

/** The notification of the configuration that was created with an object. */
const news = (device: string, id: string, objectId: string, body: string): object => ({
  to: `/devices/${device}/messages/devicebound`,
  message_id: randomUUID(),
  correlation_id: id,
  content_type: 'application/json',
  content_encoding: 'utf-8',
  application_properties: {
    'svc-messagetype': 'platformEvent',
    eventType: 'Svc.InformationModel.ObjectModelCreated',
    id,
    objectId,
    model: 'svc.configuration',
  },
  body: rhea.message.data_section(Buffer.from(body)),
});

const after = (text: string, key: string): string => {
  const at = text.indexOf(`"${key}":`) + key.length + 3;
  const isText = text[at] === '"';
  return isText
    ? text.slice(at + 1, text.indexOf('"', at + 1))
    : text.slice(at, text.slice(at, at + 20).search(/[,}]/) + at);
};

type Properties = Record<string, string>;

async function update(device: string, { objectId = '' }: Properties, body: Buffer): Promise<object> {
  const answer = await call('PUT', `/im/objects/${objectId}/models/svc.device`, device, body);
  return { objectId, model: 'svc.device', version: Number(after(answer, 'version')) };
}

async function create(device: string, { correlationId = '' }: Properties, body: Buffer): Promise<object> {
  const text = body.toString();
  const owner = after(await call('GET', `/pm/devices?device=${device}`, device), 'id');
  await call('GET', '/tr/modelDefinitions/svc.device/types/pump', device); // for each device: D371
  const serial = after(text, 'serial');
  await call('POST', '/im/query', device, `{"model":"svc.device","type":"pump","properties":{"serial":"${serial}"}}`);
  const objectId = randomUUID();
  const stored = await call('POST', `/im/object?owner=${owner}`, device, `{"objectId":"${objectId}",${text.slice(1)}`);
  const configuration = await call('GET', `/im/objects/${objectId}/models/svc.configuration`, device);
  send(news(device, correlationId, objectId, configuration));
  const related = stored.indexOf('"relatedModels":') + '"relatedModels":'.length;
  return { objectId, relatedModels: JSON.parse(stored.slice(related, stored.indexOf(']', related) + 1)) };
}

async function handle(device: string, properties: Properties, body: Buffer): Promise<void> {
  const { action = '', correlationId = '' } = properties;
  const fields = await (action === 'model.update' ? update : create)(device, properties, body);
  send({
    to: `/devices/${device}/messages/devicebound`,
    message_id: randomUUID(),
    correlation_id: correlationId,
    content_type: 'application/json',
    content_encoding: 'utf-8',
    application_properties: {
      msgType: 'ack',
      action,
      version: '2',
      correlationId,
      timestamp: new Date().toISOString(),
    },
    body: rhea.message.data_section(Buffer.from(JSON.stringify({ success: true, code: 'ok', details: '', ...fields }))),
  });
}

receive((message) => {
  if (message.application_properties?.['msgType'] !== 'action') return;
  const device = message.message_annotations?.['iothub-connection-device-id'] as string;
  void handle(device, message.application_properties as Properties, (message.body as { content: Buffer }).content);
});
process.send?.('ready');
