import { gzipSync } from 'node:zlib';
import { type Envelope, messageId } from './envelope.ts';
import { propertyBytes } from './event.ts';
import { shortened } from './rejection.ts';
import { type ResultCode, resultCodes } from './vocabulary.ts';

export interface Reply {
  readonly kind: 'acknowledgement' | 'notification';
  /** The receiving device; it may differ from the requesting one (A11). */
  readonly deviceId: string;
  /** Derived, so that a device can recognise a repeated reply (C1). */
  readonly messageId: string;
  /** System property: the request's id if that is short printable ASCII (C1). */
  readonly correlationId: string | undefined;
  /** The hub takes any characters (C2; fact c2d.characters). */
  readonly properties: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether it reports a failure; failures are sent first (C4). */
  readonly isFailure?: boolean;
}

/** A compressed body is base64 text, which a reader that goes by this property must not take for JSON (C3). */
export const contentTypeOf = ({ properties }: Pick<Reply, 'properties'>): 'application/json' | 'text/plain' =>
  properties['content-encoding'] === undefined ? 'application/json' : 'text/plain';
export const contentEncoding = 'utf-8';

/** Without those that have no value: over MQTT, some clients cannot read a name without one (P4). */
function withValues(properties: Readonly<Record<string, string>>): Record<string, string> {
  const present: Record<string, string> = {};
  for (const name in properties) if (properties[name] !== '') present[name] = properties[name] as string;
  return present;
}

/** The hub's limit on one cloud-to-device message, in bytes as `sizeOf` counts them (C3; fact c2d.size). */
export const maxReplyBytes = 65_536;

/** Size as the hub counts it: body, system property values, application property names and values (C3). */
export function sizeOf({ body, deviceId, messageId, correlationId, properties }: Reply): number {
  const to = `/devices/${encodeURIComponent(deviceId)}/messages/devicebound`;
  const form = contentTypeOf({ properties }).length + contentEncoding.length;
  const values = to.length + messageId.length + (correlationId?.length ?? 0) + form;
  return Buffer.byteLength(body) + values + propertyBytes(properties);
}

/** Most replies fit by far: for these nothing is encoded to count it. */
export const fits = (reply: Reply): boolean => mostBytes(reply) <= maxReplyBytes || sizeOf(reply) <= maxReplyBytes;

/** UTF-8 has at most three bytes for a unit of text, and a URI nine characters. */
function mostBytes({ body, deviceId, messageId, correlationId, properties }: Reply): number {
  let units = body.length + messageId.length + (correlationId?.length ?? 0) + 3 * deviceId.length + 64;
  for (const name in properties) units += name.length + (properties[name] as string).length;
  return 3 * units;
}

/** The system property holds at most 128 printable ASCII characters; other ids are only in the application property (C1). */
export const systemCorrelationId = (id: string | undefined): string | undefined =>
  id !== undefined && /^[\x20-\x7e]{1,128}$/.test(id) ? id : undefined;

export interface Result {
  readonly success: boolean;
  readonly code: ResultCode;
  readonly details: string;
  /** Body fields of this message beyond the three common ones. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Properties of this message beyond the generation's own. */
  readonly properties: Readonly<Record<string, string>>;
  /** spec: identity.delete uses the key "detail" */
  readonly detailsKey: 'details' | 'detail';
}

/** Within the hub's limit: compressed where V2 allows, then shortened (C3). If it is still too large, it cannot be delivered. */
export function acknowledge(envelope: Envelope, result: Result, now: Date): Reply {
  const properties = withValues({ ...propertiesOf(envelope, now), ...result.properties });
  const plain = ({ success, code, details, detailsKey, fields }: Result): Reply => ({
    kind: 'acknowledgement',
    deviceId: envelope.deviceId,
    messageId: messageId(envelope, isParked(result) ? 'failed acknowledgement' : 'acknowledgement'),
    correlationId: systemCorrelationId(envelope.correlationId),
    properties,
    body: jsonOf({ success, code, [detailsKey]: details, ...fields }),
    ...(!result.success && { isFailure: true }),
  });
  const compressed = (shortened: Result): Reply => {
    const reply = plain(shortened);
    const body = gzipSync(reply.body).toString('base64');
    return { ...reply, properties: { ...properties, 'content-encoding': 'gzip' }, body };
  };

  // Uncompressed: a device that compresses wrongly may not be able to decompress either (C3).
  if (envelope.generation === 'V1' || result.code === 'decompression_error') return longestThatFits(result, plain);
  if (envelope.properties['content-encoding']?.toLowerCase() !== 'gzip') {
    const reply = plain(result);
    if (fits(reply)) return reply;
  }
  return longestThatFits(result, compressed);
}

/** A parked message may succeed later; its next acknowledgement must not look like a repeat (C1). */
const isParked = ({ success, code }: Result): boolean => !success && resultCodes[code].fault === 'service';

/*
 * V2:  msgType = ack   action   version = 2   correlationId   [target]   timestamp   [context] [content-encoding = gzip]
 * V1:  svc-messagetype = platformEventAck   eventType   id   [target]   [objectId] [model]
 * None without a value (P4).
 * body:  { success, code, details, … }
 */
function propertiesOf({ generation, name = '', correlationId = '', target }: Envelope, now: Date) {
  return generation === 'V1'
    ? { 'svc-messagetype': 'platformEventAck', eventType: name, id: correlationId, target }
    : { msgType: 'ack', action: name, version: '2', correlationId, target, timestamp: now.toISOString() };
}

/** An object as JSON text. bigint members keep all digits (A5). */
function jsonOf(fields: Readonly<Record<string, unknown>>): string {
  let members = '';
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value);
    if (text !== undefined) members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${text}`;
  }
  return `{${members}}`;
}

const ofDetails = 256;
const ofRelatedDetails = 64;
/** Related models beyond this size as plain JSON are dropped without trying to compress them. */
const mostPlainBytes = 8 * maxReplyBytes;

type Related = { readonly success: boolean; readonly details: string };

/** Cuts `details`, then those of related models, then empties these, then drops related models, successful ones first (C3, D32). */
function longestThatFits(result: Result, encode: (result: Result) => Reply): Reply {
  const whole = encode(result);
  if (fits(whole)) return whole;
  const short = { ...result, details: shortened(result.details, ofDetails) };
  const shorter = encode(short);
  const { relatedModels: related } = result.fields;
  if (fits(shorter) || !Array.isArray(related) || related.length === 0) return shorter;

  const withRelated = (relatedModels: readonly Related[], details = short.details): Reply =>
    encode({ ...short, details, fields: { ...short.fields, relatedModels } });
  const withDetails = (detailsOf: (one: Related) => string): readonly Related[] =>
    related.map((one) => ({ ...one, details: detailsOf(one) }));
  const cut = withRelated(withDetails(({ details }) => shortened(details, ofRelatedDetails)));
  if (fits(cut)) return cut;
  const bare = withDetails(() => '');
  const emptied = withRelated(bare);
  if (fits(emptied)) return emptied;

  const ordered = [...bare.filter(({ success }) => !success), ...bare.filter(({ success }) => success)];
  const keeping = (kept: number) => withRelated(ordered.slice(0, kept), sentenceOf(short.details, ordered, kept));
  let [most, tooMany] = [0, countWithin(ordered, mostPlainBytes)];
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (fits(keeping(middle))) most = middle;
    else tooMany = middle;
  }
  return keeping(most);
}

function sentenceOf(details: string, ordered: readonly Related[], kept: number): string {
  const leftOut = ordered.slice(kept);
  const failed = leftOut.filter(({ success }) => !success).length;
  const which = failed === 0 ? 'all of them successful' : `${failed} of them failed`;
  const sentence = `${leftOut.length} of ${ordered.length} related models are left out here, ${which}`;
  return details === '' ? sentence : `${details}; ${sentence}`;
}

/** The number of elements that fit into this number of bytes as JSON. */
function countWithin(elements: readonly unknown[], bytes: number): number {
  let left = bytes;
  const index = elements.findIndex((one) => {
    left -= Buffer.byteLength(JSON.stringify(one));
    return left < 0;
  });
  return index < 0 ? elements.length : index;
}

/** Tells a device about an object model; the body is the backend's own text of the model (R5). */
export interface Notification {
  readonly eventType: 'Svc.InformationModel.ObjectModelCreated' | 'Svc.InformationModel.ObjectModelUpdated';
  readonly deviceId: string;
  readonly target: string;
  readonly objectId: string;
  readonly model: string;
  readonly body: Buffer;
}

/*
 * svc-messagetype = platformEvent   eventType   id   objectId   model   [target]        body: the object model
 * Always in V1 format (A11).
 */
export function notify(envelope: Envelope, notification: Notification): Reply {
  const { deviceId, eventType, objectId, model, target, body } = notification;
  const id = envelope.correlationId ?? '';
  return {
    kind: 'notification',
    deviceId,
    messageId: messageId(envelope, `about ${model} of ${objectId.toLowerCase()}`),
    correlationId: systemCorrelationId(envelope.correlationId),
    properties: withValues({ 'svc-messagetype': 'platformEvent', eventType, id, objectId, model, target }),
    body: body.toString(),
  };
}
