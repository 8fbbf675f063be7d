import { gzipSync } from 'node:zlib';
import { fits, type Reply, systemCorrelationId, withValues } from './c2d.ts';
import { resultCodes } from './codes.ts';
import { type Envelope, messageId } from './envelope.ts';
import type { Result } from './result.ts';
import { longestThatFits } from './shortening.ts';

/**
 * The acknowledgement of a message within the hub's limit: compressed where V2 allows, then shortened (C3). If it is still
 * too large, it cannot be delivered.
 */
export function acknowledge(envelope: Envelope, result: Result, now: Date): Reply {
  const properties = withValues({
    ...(envelope.generation === 'V2' ? v2(envelope, now) : v1(envelope)),
    ...result.properties,
  });
  const plain = (shortened: Result): Reply => ({
    kind: 'acknowledgement',
    deviceId: envelope.deviceId,
    messageId: messageId(envelope, isParked(result) ? 'failed acknowledgement' : 'acknowledgement'),
    correlationId: systemCorrelationId(envelope.correlationId),
    properties,
    body: bodyOf(shortened),
    ...(!result.success && { isFailure: true }),
  });
  const compressed = (shortened: Result): Reply => {
    const reply = plain(shortened);
    return {
      ...reply,
      properties: { ...properties, 'content-encoding': 'gzip' },
      body: gzipSync(reply.body).toString('base64'),
    };
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
function v2({ name, correlationId, target }: Envelope, now: Date): Record<string, string> {
  return {
    msgType: 'ack',
    action: name ?? '',
    version: '2',
    correlationId: correlationId ?? '',
    target,
    timestamp: now.toISOString(),
  };
}

function v1({ name, correlationId, target }: Envelope): Record<string, string> {
  return {
    'svc-messagetype': 'platformEventAck',
    eventType: name ?? '',
    id: correlationId ?? '',
    target,
  };
}

function bodyOf({ success, code, details, detailsKey, fields }: Result): string {
  return jsonOf({ success, code, [detailsKey]: details, ...fields });
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
