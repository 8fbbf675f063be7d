import { gzipSync } from 'node:zlib';
import { fits, type Reply, systemCorrelationId } from './c2d.ts';
import type { ResultCode } from './codes.ts';
import { type Envelope, messageId } from './envelope.ts';

/** The result of one message, as an acknowledgement tells it. */
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

/**
 * The acknowledgement of a message, made to fit the hub's limit: compressed where V2 allows, then with `details` cut,
 * then with the `details` of related models cut (C3). It may still be too large: then it cannot be delivered.
 */
export function acknowledge(envelope: Envelope, result: Result, now: Date): Reply {
  const properties = { ...(envelope.generation === 'V2' ? v2(envelope, now) : v1(envelope)), ...result.properties };
  const plain = (cut: Cut): Reply => ({
    kind: 'acknowledgement',
    deviceId: envelope.deviceId,
    messageId: messageId(envelope, 'acknowledgement'),
    correlationId: systemCorrelationId(envelope.correlationId),
    properties,
    body: bodyOf(result, cut),
  });
  const compressed = (cut: Cut): Reply => {
    const reply = plain(cut);
    return {
      ...reply,
      properties: { ...properties, 'content-encoding': 'gzip' },
      body: gzipSync(reply.body).toString('base64'),
    };
  };

  const mayCompress = envelope.generation === 'V2';
  const asked = mayCompress && envelope.properties['content-encoding']?.toLowerCase() === 'gzip';
  if (!asked) {
    const reply = plain(uncut);
    if (fits(reply)) return reply;
  }
  const encode = mayCompress ? compressed : plain;
  const first = encode(uncut);
  if (fits(first)) return first;
  const shorter = encode({ details: 256, relatedDetails: Number.POSITIVE_INFINITY });
  return fits(shorter) ? shorter : encode({ details: 256, relatedDetails: 64 });
}

/*
 * V2:  msgType = ack   action   version = 2   correlationId   target   timestamp   [context] [content-encoding = gzip]
 * V1:  svc-messagetype = platformEventAck   eventType   id   target   [objectId] [model]
 * body:  { success, code, details, … }
 */
function v2({ name, correlationId, target }: Envelope, now: Date): Record<string, string> {
  return {
    msgType: 'ack',
    ...(name === undefined ? {} : { action: name }),
    version: '2',
    ...(correlationId === undefined ? {} : { correlationId }),
    target,
    timestamp: now.toISOString(),
  };
}

function v1({ name, correlationId, target }: Envelope): Record<string, string> {
  return {
    'svc-messagetype': 'platformEventAck',
    ...(name === undefined ? {} : { eventType: name }),
    ...(correlationId === undefined ? {} : { id: correlationId }),
    target,
  };
}

/** Most characters of the texts that may be shortened. */
interface Cut {
  readonly details: number;
  readonly relatedDetails: number;
}

const uncut: Cut = { details: Number.POSITIVE_INFINITY, relatedDetails: Number.POSITIVE_INFINITY };

const shorten = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;

function bodyOf({ success, code, details, detailsKey, fields }: Result, cut: Cut): string {
  const { relatedModels } = fields;
  const shortened =
    Array.isArray(relatedModels) && cut.relatedDetails !== uncut.relatedDetails
      ? { relatedModels: relatedModels.map((one) => ({ ...one, details: shorten(one.details, cut.relatedDetails) })) }
      : {};
  return JSON.stringify({
    success,
    code,
    [detailsKey]: shorten(details, cut.details),
    ...fields,
    ...shortened,
  });
}
