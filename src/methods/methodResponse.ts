import type { DirectMethodResult } from '../hub/methods/directMethods.ts';
import { answerLimits, type Json, maxJsonDepth, memberOf, parseJson, textIn } from '../protocol/json.ts';
import { inexactIn } from '../protocol/jsonExactness.ts';
import { allKeys } from '../protocol/jsonKeys.ts';
import { isWhole } from '../protocol/jsonNumbers.ts';
import { Failure, type FailureOptions, type Reason } from './failure.ts';

/** Limit of the hub for the payload of a direct method and for its response (M3). */
export const maxPayloadBytes = 131_072;

/** The response to the application (M7). */
export interface MethodResult {
  readonly status: number;
  readonly output?: Readonly<Record<string, unknown>>;
}

/** The statuses with which a device reports that it did not get a reply of the method (M8, D42). */
const deviceFailures: Readonly<Record<number, readonly [Reason, string]>> = {
  400: ['refused_by_device', 'the device refuses the invocation; change it before you repeat it'],
  404: ['unknown_to_device', 'the device has no such object or method'],
  502: [
    'failed_at_device',
    'the device failed to carry out the invocation, or got a malformed reply; the method may have run',
  ],
  503: [
    'unavailable_at_device',
    'the device cannot carry out the invocation now; the method has not run, repeat it later',
  ],
  504: ['no_reply_at_device', 'the method did not reply to the device in time; it may have run, or still be running'],
};

const maxDetailLength = 300;

type Response = Pick<DirectMethodResult & { readonly kind: 'response' }, 'status' | 'payload' | 'text'>;

/**
 * Reads the response to the direct method: 200 with `{status, output?}` of the method, or another status with
 * `{detail}` (M7). What cannot be carried exactly is a bad reply (M4).
 * @throws Failure
 */
export function readMethodResponse({ status, payload, text }: Response): MethodResult {
  if (status !== 200) throw deviceFailure(status, payload);
  if (!isObject(payload)) throw malformed('it is not a JSON object');
  if (!isShallow(payload, maxJsonDepth)) throw malformed(`it is nested more than ${maxJsonDepth} levels deep`);
  const written = memberOf(parseJson(text, allKeys, answerLimits), 'payload');
  const { status: methodStatus, output } = payload;
  if (written === undefined || !isInteger(methodStatus, written)) throw malformed('it has no integer status');
  const replied = { methodStatus };
  if (output !== undefined && !isObject(output)) throw malformed('its output is not a JSON object', replied);
  if (Buffer.byteLength(JSON.stringify(payload)) > maxPayloadBytes) {
    throw malformed(`it has more than ${maxPayloadBytes} bytes`, replied);
  }
  const inexact = inexactIn(written);
  if (inexact !== undefined) throw malformed('it cannot be carried exactly', { ...replied, foreignDetail: inexact });
  return { status: methodStatus, ...(output !== undefined && { output }) };
}

/** Whether the status was an integer when it was written, before it was rounded, and is the only one. */
const isInteger = (status: unknown, written: Json): status is number =>
  Number.isSafeInteger(status) && !written.twice.has('status') && isWhole(textIn(written, 'status') ?? '');

function deviceFailure(status: number, payload: unknown): Failure {
  if (!Object.hasOwn(deviceFailures, status)) return malformed(`the status ${status} is not allowed`);
  const [reason, message] = deviceFailures[status] as readonly [Reason, string];
  const detail = isObject(payload) ? payload['detail'] : undefined;
  return new Failure(reason, message, { foreignDetail: typeof detail === 'string' ? readable(detail) : undefined });
}

const malformed = (problem: string, options: FailureOptions = {}): Failure => {
  const effect = options.methodStatus === undefined ? 'may have run' : 'has run';
  return new Failure('bad_reply', `the response of the device is malformed: ${problem}; the method ${effect}`, options);
};

const readable = (text: string): string =>
  text
    .slice(0, maxDetailLength)
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Deeper values would overflow the stack of JSON.stringify. */
function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isShallow(member, depth - 1));
}
