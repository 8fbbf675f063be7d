import type { Message, SystemProperties } from '../values/message.ts';

// devices/{device}/messages/events/{bag}, devices/{device}/modules/{module}/messages/events/{bag}
// devices/{device}/messages/devicebound/{bag}
// bag: name=value&name=value, percent-encoded; names that begin with "$." are system properties; no value: name alone

const systemKeys: Readonly<Record<string, keyof SystemProperties>> = {
  '$.mid': 'messageId',
  '$.cid': 'correlationId',
  '$.uid': 'userId',
  '$.to': 'to',
  '$.ct': 'contentType',
  '$.ce': 'contentEncoding',
  '$.exp': 'expiryTime',
  '$.ctime': 'creationTime',
  '$.sub': 'subject',
  '$.ifid': 'interfaceId',
  '$.on': 'outputName',
};

/** The topic under which a device or module sends its messages, without the bag. */
export function eventsTopic(deviceId: string, moduleId: string | undefined): string {
  return moduleId === undefined
    ? `devices/${deviceId}/messages/events/`
    : `devices/${deviceId}/modules/${moduleId}/messages/events/`;
}

/** What no topic of a message has (MQTT 3.1.1, 3.3.2.1 and 1.5.3). */
export const wildcard = /[+#\0]/;

/** Whether a topic is one of a device's messages: with one bag, or none, and perhaps a slash at its end. */
export const isEventsTopic = (topic: string, own: string): boolean =>
  `${topic}/`.startsWith(own) && !wildcard.test(topic) && !/\/./.test(topic.slice(own.length));

/** The topic under which a device gets its messages, without the bag. */
export function deviceboundTopic(deviceId: string): string {
  return `devices/${deviceId}/messages/devicebound/`;
}

/** Read a property bag. A stray percent sign is taken as it stands; of two equal names the last counts. */
export function parseBag(bag: string): Pick<Message, 'system' | 'properties'> {
  const system: SystemProperties = {};
  const properties: Record<string, string> = Object.create(null);
  for (const pair of bag.replace(/\/$/, '').split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    const value = at < 0 ? '' : decode(pair.slice(at + 1));
    const key = Object.hasOwn(systemKeys, name) ? systemKeys[name] : undefined;
    if (key) system[key] = value;
    else if (name !== '') properties[name] = value;
  }
  return { system, properties };
}

/** Write the property bag of a message. */
export function formatBag({ system, properties }: Pick<Message, 'system' | 'properties'>): string {
  const pairs = Object.entries(systemKeys).flatMap(([name, key]) => {
    const value = system[key];
    return value === undefined ? [] : [pair(name, value)];
  });
  for (const [name, value] of Object.entries(properties)) pairs.push(pair(name, value));
  return pairs.join('&');
}

function pair(name: string, value: string): string {
  return `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`;
}

function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
