import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { decimalOf, inexactIn } from '@device-messaging/telemetry/exactJson.ts';
import { createDeadline } from '../backends/deadline.ts';
import { createJoined } from '../backends/transport.ts';
import type { RequestFields } from '../observing/invocationRecords.ts';
import { isGuid, isModelId } from '../protocol/fields.ts';
import { allKeys, bodyLimits, leafOf, MalformedJson, parseJson, readJson, textIn } from '../protocol/json.ts';
import { placeIn, quoted, Rejection } from '../protocol/rejection.ts';
import { Failure } from './failure.ts';
import openapi from './openapi.json' with { type: 'json' };

/** The contract of the front door (M1): docs/contracts/methods.openapi.yaml, as JSON. */
export const contract: object = openapi;
const { minimum: min, maximum: max } = openapi.components.schemas.Invocation.properties.timeout;
/** In seconds; the range is that of the hub (M3). */
export const timeoutRange = { min, max, default: 30 } as const;
const timeoutRule = `timeout must be whole seconds from ${min} to ${max}`;
/** Of correlation ids: safe in headers, log lines and payloads. */
export const correlationForm = new RegExp(openapi.components.headers['X-Correlation-Id'].schema.pattern);
/** The payload limit (M3) with as much again for white space and escapes. */
const maxBodyBytes = 256 * 1024;
/** For a body, from the end of the look-up on (M14). */
const bodySeconds = 10;

const tooLarge = () => new Failure('too_large', 'the body has more than 262,144 bytes; a payload has at most 131,072');
const invalid = (detail: string) => new Failure('invalid_request', detail);

/** @throws Failure invalid_request */
export function checkPath({ objectId, model, method }: RequestFields): void {
  if (!isGuid(objectId)) throw invalid('the object id in the path must be a GUID');
  if (!isModelId(model)) throw invalid('the model in the path must be a model identifier');
  if (!/^[^\p{Cc}\p{Cs}]{1,256}$/u.test(method)) {
    throw invalid('the method in the path must have 1 to 256 characters and no control characters');
  }
}

/** @throws Failure unsupported_media_type, too_large */
export function checkBodyHeaders({
  'content-type': type = '',
  'content-encoding': encoding = 'identity',
  'content-length': length = '0',
}: IncomingHttpHeaders): void {
  const unsupported = (detail: string) => new Failure('unsupported_media_type', detail);
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw unsupported('the body must be JSON: send the header Content-Type: application/json');
  }
  if (encoding.toLowerCase() !== 'identity') throw unsupported('the body must not be compressed');
  if (Number(length) > maxBodyBytes) throw tooLarge();
}

export const isContinue = (expect: string | undefined): boolean => expect?.trim().toLowerCase() === '100-continue';

/**
 * The bytes of a body. After a failure it is not read any further.
 * @throws Failure too_large, request_timeout; invalid_request when the caller has gone; Cancelled
 */
export async function receiveBody(body: Readable, ended: AbortSignal): Promise<Buffer> {
  const joined = createJoined();
  let bytes = 0;
  let take = (_: Buffer) => {};
  const received = new Promise<Buffer>((resolve, reject) => {
    const gone = () => {
      if (!body.readableEnded) reject(invalid('the caller has disconnected'));
    };
    take = (piece) => {
      bytes += piece.length;
      if (bytes > maxBodyBytes) reject(tooLarge());
      else joined.add(piece);
    };
    body.on('data', take);
    body.once('end', () => resolve(joined.bytes()));
    body.once('error', gone);
    body.once('close', gone);
    if (body.destroyed) gone();
  });
  try {
    return await createDeadline(bodySeconds, ended).race(received, 'the body');
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    throw new Failure('request_timeout', `the body was not complete within ${bodySeconds} seconds`);
  } finally {
    body.off('data', take);
    body.pause();
  }
}

/** Body of an invocation (M3); `input` is checked later. */
export interface Invocation {
  readonly input?: Readonly<Record<string, unknown>>;
  readonly timeout?: number;
  /** Inputs whose number is a whole one only because it was rounded: for a data type without fractions they are wrong (M4). */
  readonly rounded?: ReadonlySet<string>;
}

/**
 * The value of a body, within the limits of a device's body (R6). Refuses other members, and what cannot be carried exactly (M4).
 * @throws MalformedJson, Failure: both name the place
 */
export function readInvocation(bytes: Buffer): Invocation {
  const json = readJson(bytes, allKeys, bodyLimits);
  const inexact = inexactIn(json.text);
  if (inexact !== undefined) {
    throw new MalformedJson(`cannot be carried exactly: ${placeIn(inexact.path)} ${inexact.problem}`);
  }
  if (!json.isObject) throw invalid('the body must be a JSON object');
  const { input, timeout, ...others } = json.value as Record<string, unknown>;
  if (roundedIn(json.text).includes('timeout')) throw invalid(timeoutRule);
  for (const name of Object.keys(others)) {
    throw invalid(`the body has a member other than input and timeout: ${quoted(name)}`);
  }
  if (timeout !== undefined && !isTimeout(timeout)) throw invalid(timeoutRule);
  const limit = timeout !== undefined && { timeout };
  const found = leafOf(json, 'input');
  if (found === undefined) return { ...limit };
  if (!found.isObject) throw invalid('input must be a JSON object of values by input name');
  return { input: input as NonNullable<Invocation['input']>, ...limit, rounded: new Set(roundedIn(found.text)) };
}

const isTimeout = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= timeoutRange.min && (value as number) <= timeoutRange.max;

/** Whether a number of a JSON text is exactly a whole one: `1.0` and `1e3` are, `0.99999999999999999999` is not. */
export function isWhole(literal: string): boolean {
  const { digits, exponent } = decimalOf(literal);
  return digits === '' || exponent >= 0;
}

/** The names of outermost members such as `0.99999999999999999999`. */
function roundedIn(object: string): string[] {
  if (!/\d[.eE]/.test(object)) return [];
  const json = parseJson(object);
  return [...json.members.keys()].filter((name) => {
    const text = textIn(json, name) ?? '';
    return /^[-\d]/.test(text) && Number.isInteger(Number(text)) && !isWhole(text);
  });
}
