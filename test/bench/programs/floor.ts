import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import rhea, { type Connection, type Sender } from 'rhea';
import { Pool } from 'undici';
import { environment, keyIn, policyIn } from './environment.ts';

/**
 * The least that the work can cost: bare rhea to receive and send, undici, the same calls to the backends and the same
 * replies. No order, no validation, no log, no retry, no checkpoint. Written once; it is what the service is measured
 * against, so it changes only in a commit of its own.
 */

const { hubName, amqpPort, amqpsPort, partitions, eventsConnectionString, serviceConnectionString } = environment;
const credit = 300;
const pool = new Pool(new URL(environment.backendsUrl).origin, { connections: 64 });

function signature(audience: string, connectionString: string, encoding: 'utf8' | 'base64'): string {
  const resource = encodeURIComponent(audience);
  const expiry = Math.floor(Date.now() / 1000) + 3600;
  const key = Buffer.from(keyIn(connectionString), encoding);
  const signed = encodeURIComponent(createHmac('sha256', key).update(`${resource}\n${expiry}`).digest('base64'));
  return `SharedAccessSignature sr=${resource}&sig=${signed}&se=${expiry}&skn=${policyIn(connectionString)}`;
}

async function authorized(connection: Connection, audience: string, token: string): Promise<Connection> {
  const replies = connection.open_receiver({ source: '$cbs', target: 'answers' });
  const requests = connection.open_sender('$cbs');
  await once(requests, 'sendable');
  requests.send({
    message_id: 'token',
    reply_to: 'answers',
    application_properties: { operation: 'put-token', type: 'servicebus.windows.net:sastoken', name: audience },
    body: token,
  });
  await once(replies, 'message');
  return connection;
}

async function connect(port: number, transport: 'tcp' | 'tls'): Promise<Connection> {
  const connection = rhea.create_container().connect({ host: 'localhost', port, transport, reconnect: false } as never);
  await once(connection, 'connection_open');
  return connection;
}

const events = await authorized(
  await connect(amqpPort, 'tcp'),
  `sb://127.0.0.1/${hubName}`,
  signature(`sb://127.0.0.1/${hubName}`, eventsConnectionString, 'utf8'),
);
const service = await authorized(
  await connect(amqpsPort, 'tls'),
  'localhost',
  signature('localhost', serviceConnectionString, 'base64'),
);
const sender: Sender = service.open_sender('/messages/devicebound');
await once(sender, 'sendable');

const unsent: object[] = [];

function flush(): void {
  while (unsent.length > 0 && sender.sendable()) sender.send(unsent.shift() as never);
}
sender.on('sendable', flush);

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

let typeKnownUntil = 0;

async function create(device: string, _: Properties, body: Buffer): Promise<object> {
  const text = body.toString();
  const owner = after(await call('GET', `/pm/devices?device=${device}`, device), 'id');
  if (Date.now() > typeKnownUntil) {
    await call('GET', '/tr/modelDefinitions/svc.device/types/pump', device);
    typeKnownUntil = Date.now() + 30_000;
  }
  const serial = after(text, 'serial');
  await call('POST', '/im/query', device, `{"model":"svc.device","type":"pump","properties":{"serial":"${serial}"}}`);
  const objectId = randomUUID();
  await call('POST', `/im/object?owner=${owner}`, device, `{"objectId":"${objectId}",${text.slice(1)}`);
  await call('GET', `/im/objects/${objectId}/models/svc.configuration`, device);
  return { objectId, relatedModels: [] };
}

async function handle(device: string, properties: Properties, body: Buffer): Promise<void> {
  const { action = '', correlationId = '' } = properties;
  const fields = await (action === 'model.update' ? update : create)(device, properties, body);
  unsent.push({
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
      target: '',
      timestamp: new Date().toISOString(),
    },
    body: rhea.message.data_section(Buffer.from(JSON.stringify({ success: true, code: 'ok', details: '', ...fields }))),
  });
  flush();
}

for (let partition = 0; partition < partitions; partition += 1) {
  const receiver = events.open_receiver({
    source: {
      address: `${hubName}/ConsumerGroups/$Default/Partitions/${partition}`,
      filter: rhea.filter.selector("amqp.annotation.x-opt-offset > '-1'"),
    },
    credit_window: credit,
  });
  receiver.on('message', ({ message }) => {
    if (message?.application_properties?.['msgType'] !== 'action') return;
    const device = message.message_annotations?.['iothub-connection-device-id'] as string;
    void handle(device, message.application_properties as Properties, (message.body as { content: Buffer }).content);
  });
}
process.send?.('ready');
