import type { IncomingMessage } from 'node:http';
import type { Delivery } from '../cloudToDevice/deviceQueues.ts';
import type { Settlement } from '../cloudToDevice/queue.ts';
import { maxEventSize } from '../events/events.ts';
import { isObject, type Json, parseJson } from '../values/json.ts';
import { type Message, messageSize, type SystemProperties } from '../values/message.ts';
import { Refusal } from '../values/refusal.ts';
import type { DeviceRequest, DeviceRoute, RestAnswer } from './request.ts';

// A device over HTTPS sends and asks for messages, one request each. It is never connected.
// iothub-app-{name} is an application property; a batch is a list of {body: base64, properties: {iothub-app-{name}: text}}

const prefix = 'iothub-app-';
const batchType = 'application/vnd.microsoft.iothub.json';
const mostInBatch = 500;

const systemHeaders: Readonly<Record<string, keyof SystemProperties>> = {
  'iothub-messageid': 'messageId',
  'iothub-correlationid': 'correlationId',
  'iothub-userid': 'userId',
  'iothub-to': 'to',
  'iothub-expiry': 'expiryTime',
  'iothub-contenttype': 'contentType',
  'iothub-contentencoding': 'contentEncoding',
  'iothub-creationtimeutc': 'creationTime',
  'iothub-interface-id': 'interfaceId',
  'dt-subject': 'subject',
};

function propertiesIn(pairs: Iterable<readonly [name: string, value: string]>): Pick<Message, 'system' | 'properties'> {
  const system: SystemProperties = {};
  const properties: Record<string, string> = Object.create(null);
  for (const [name, value] of pairs) {
    const folded = name.toLowerCase();
    const key = Object.hasOwn(systemHeaders, folded) ? systemHeaders[folded] : undefined;
    if (key) system[key] = value;
    else if (folded.startsWith(prefix) && name.length > prefix.length) properties[name.slice(prefix.length)] = value;
  }
  return { system, properties };
}

/** The headers as they were sent: names keep their case. */
function* headersOf({ rawHeaders }: IncomingMessage): Generator<readonly [string, string]> {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) yield [rawHeaders[at] ?? '', rawHeaders[at + 1] ?? ''];
}

const noBatch = () =>
  new Refusal(
    'com.microsoft:argument-error',
    `A batch is a list of 1 to ${mostInBatch} objects with a body and properties.`,
  );

function messageIn(described: Json): Message {
  if (!isObject(described)) throw noBatch();
  const { body, base64Encoded = true, properties = {} } = described;
  if (typeof body !== 'string' || !isObject(properties)) throw noBatch();
  const pairs = Object.entries(properties).map(([name, value]): [string, string] => {
    if (typeof value !== 'string') throw noBatch();
    return [name, value];
  });
  return { ...propertiesIn(pairs), body: Buffer.from(body, base64Encoded === false ? 'utf8' : 'base64') };
}

function messagesIn({ request, body }: DeviceRequest): Message[] {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== batchType) return [{ ...propertiesIn(headersOf(request)), body }];
  const described = parseJson(body.toString('utf8'));
  if (!Array.isArray(described) || described.length === 0 || described.length > mostInBatch) throw noBatch();
  return described.map(messageIn);
}

/** Take a message, or a batch in whole or not at all; under the throttle it may wait. */
const send = (asked: DeviceRequest): Promise<RestAnswer> =>
  new Promise((resolve, reject) => {
    const { hub, login } = asked;
    const messages = messagesIn(asked);
    if (messages.reduce((sum, message) => sum + messageSize(message), 0) > maxEventSize)
      throw new Refusal('amqp:link:message-size-exceeded', 'Messages and batches may have 256 KB.');
    hub.throttle.shape('d2c', (refusal) => {
      if (refusal) return reject(refusal);
      try {
        for (const message of messages) hub.events.accept(login, message);
        resolve({ status: 204 });
      } catch (error) {
        reject(error);
      }
    });
  });

const isName = (text: string): boolean => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
const isValue = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text);

/** A message as headers; undefined when they cannot say it. */
function headersFor({ system, properties }: Message): Record<string, string> | undefined {
  const pairs = Object.entries(systemHeaders).flatMap(([name, key]) => {
    const value = system[key];
    return value === undefined ? [] : [[name, value] as const];
  });
  for (const [name, value] of Object.entries(properties))
    pairs.push([name === 'iothub-ack' ? name : `${prefix}${name}`, value]);
  return pairs.every(([name, value]) => isName(name) && isValue(value)) ? Object.fromEntries(pairs) : undefined;
}

const receive = ({ hub, login }: DeviceRequest): RestAnswer => {
  const { deviceId } = login.identity;
  const delivery = hub.devicebound.take(deviceId, (message) => headersFor(message) !== undefined);
  if (!delivery) return { status: 204 };
  return {
    status: 200,
    bytes: delivery.message.body,
    headers: { ...headersFor(delivery.message), ...aboutDelivery(delivery) },
  };
};

const aboutDelivery = ({ lockToken, deliveryCount, enqueuedTime }: Delivery) => ({
  'content-type': 'application/octet-stream',
  etag: `"${lockToken}"`,
  'iothub-deliverycount': String(deliveryCount - 1),
  'iothub-enqueuedtime': new Date(enqueuedTime).toISOString(),
});

const settle = ({ hub, login, subject: lockToken }: DeviceRequest, how: Settlement): RestAnswer => {
  if (!hub.devicebound.settle(login.identity.deviceId, lockToken, how))
    throw new Refusal('com.microsoft:message-lock-lost', 'The device has no message under this lock.');
  return { status: 204 };
};

/** What a device can do over HTTPS. */
export const deviceRoutes: readonly DeviceRoute[] = [
  { method: 'POST', path: '/devices/{device}/messages/events', handle: send },
  { method: 'GET', path: '/devices/{device}/messages/devicebound', handle: receive },
  {
    method: 'DELETE',
    path: '/devices/{device}/messages/devicebound/{subject}',
    handle: (asked) => settle(asked, asked.query.has('reject') ? 'reject' : 'complete'),
  },
  {
    method: 'POST',
    path: '/devices/{device}/messages/devicebound/{subject}/abandon',
    handle: (asked) => settle(asked, 'abandon'),
  },
];
