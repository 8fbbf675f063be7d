import { gunzipSync } from 'node:zlib';
import type { EntryOf } from 'iot-hub-emulator/journal';
import type { Expected, Reply } from './model/steps.ts';

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Compares all that a device sees of a message with what it should; throws with the first difference. */
export function compareReply(wanted: Reply, seen: EntryOf<'c2d'>): void {
  const { system, properties, deviceId, body, refused } = seen;
  same('device', wanted.deviceId, deviceId);
  if (refused !== undefined) throw new Error(`the hub refused a reply: ${refused.description}`);
  const { messageId, correlationId, contentType, contentEncoding, to: _, ...others } = system;
  same('system message id', uuid, messageId);
  same('system correlation id', wanted.correlationId, correlationId);
  same('system content type', wanted.isCompressed ? 'text/plain' : 'application/json', contentType);
  same('system content encoding', 'utf-8', contentEncoding);
  if (Object.keys(others).length > 0) throw new Error(`further system properties: ${Object.keys(others)}`);

  const all = { ...wanted.properties, ...(wanted.isCompressed && { 'content-encoding': 'gzip' }) };
  // P4: a reply has no property without a value.
  const expected = Object.fromEntries(Object.entries<Expected>(all).filter(([, value]) => value !== ''));
  for (const name of new Set([...Object.keys(expected), ...Object.keys(properties)]))
    same(`property ${name}`, expected[name], properties[name]);

  const text = wanted.isCompressed ? gunzipSync(Buffer.from(body.toString(), 'base64')).toString() : body.toString();
  if ('text' in wanted.body) {
    same('body', wanted.body.text, text);
    return;
  }
  const value = JSON.parse(text);
  for (const name of new Set([...Object.keys(wanted.body.value), ...Object.keys(value)])) {
    const part = wanted.body.value[name];
    if (part instanceof RegExp) same(`body.${name}`, part, value[name]);
    else same(`body.${name}`, JSON.stringify(part), JSON.stringify(value[name]));
  }
  const details = String(value.details ?? value.detail);
  const missing = wanted.body.mentions.filter((word) => !details.includes(word));
  if (missing.length > 0) throw new Error(`details do not mention ${missing}: ${details}`);
}

function same(what: string, wanted: Expected | undefined, seen: string | undefined): void {
  const isSame =
    wanted instanceof RegExp
      ? seen !== undefined && wanted.test(seen)
      : typeof wanted === 'object'
        ? seen === undefined || seen === wanted.either
        : seen === wanted;
  if (!isSame) throw new Error(`${what} is ${seen} instead of ${JSON.stringify(wanted) ?? 'absent'} ${wanted ?? ''}`);
}
