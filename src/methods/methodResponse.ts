import { inexactIn, isShallow } from '@device-messaging/telemetry/exactJson.ts';
import type { DirectMethodResult } from '../hub/methods/directMethods.ts';
import type { Json } from '../protocol/json.ts';
import { allKeys, answerLimits, MalformedJson, maxJsonDepth, memberOf, parseJson, textIn } from '../protocol/json.ts';
import { placeIn } from '../protocol/rejection.ts';
import { effects, type Reason } from '../protocol/vocabulary.ts';
import { isWhole } from './contract.ts';
import { effectTexts, Failure, type FailureOptions } from './failure.ts';

/** Limit of the hub for the payload of a direct method and for its response (M3). */
export const maxPayloadBytes = 131_072;

export type MethodResult = { readonly status: number; readonly output?: Readonly<Record<string, unknown>> };

/** The statuses with which a device reports that it did not get a reply of the method (M8, D42), and what to do when nothing was invoked. */
const deviceFailures: Readonly<Record<number, readonly [Reason, problem: string, advice?: string]>> = {
  400: ['refused_by_device', 'the device refuses the invocation', 'change it before you repeat it'],
  404: ['unknown_to_device', 'the device has no such object or method'],
  409: ['other_object', 'the device serves another object of that identity'],
  502: ['failed_at_device', 'the device failed to carry out the invocation, or got a malformed reply'],
  503: ['unavailable_at_device', 'the device cannot carry out the invocation now', 'repeat it later'],
  504: ['no_reply_at_device', 'the method did not reply to the device in time'],
};

const maxDetailLength = 300;
type Response = Pick<DirectMethodResult & { readonly kind: 'response' }, 'status' | 'payload' | 'text'>;

/** The response to the direct method: 200 with `{status, output?}`, or another status and why (M7). What cannot be carried exactly is bad (M4). */
export function readMethodResponse({ status, payload, text }: Response): MethodResult {
  if (status !== 200) throw deviceFailure(status, payload);
  if (!isObject(payload)) throw malformed('it is not a JSON object');
  if (!isShallow(payload, maxJsonDepth)) throw malformed(`it is nested more than ${maxJsonDepth} levels deep`);
  const written = payloadIn(text);
  if (written === undefined) throw malformed('it cannot be read');
  const { status: methodStatus, output } = payload;
  if (!isInteger(methodStatus, written)) throw malformed('it has no integer status');
  const replied = { methodStatus, invoked: 'yes' } as const;
  if (output !== undefined && !isObject(output)) throw malformed('its output is not a JSON object', replied);
  if (Buffer.byteLength(JSON.stringify(payload)) > maxPayloadBytes) {
    throw malformed(`it has more than ${maxPayloadBytes} bytes`, replied);
  }
  const inexact = inexactOutput(written);
  if (inexact !== undefined) throw malformed('it cannot be carried exactly', { ...replied, foreignDetail: inexact });
  return { status: methodStatus, ...(output !== undefined && { output }) };
}

function payloadIn(text: string): Json | undefined {
  try {
    return memberOf(parseJson(text, allKeys, answerLimits), 'payload');
  } catch (error) {
    if (error instanceof MalformedJson) return undefined;
    throw error;
  }
}

/** Whether the status was an integer when it was written, before it was rounded, and is the only one. */
const isInteger = (status: unknown, written: Json): status is number =>
  Number.isSafeInteger(status) && !written.twice.has('status') && isWhole(textIn(written, 'status') ?? '');

/** Other members are dropped, so that they may be as they like. */
function inexactOutput(written: Json): string | undefined {
  if (written.twice.has('output')) return 'output occurs twice';
  const inexact = inexactIn(textIn(written, 'output') ?? '');
  return inexact && `${placeIn(['output', ...inexact.path])} ${inexact.problem}`;
}

/** The body of a failure is `{detail, invoked?, status?}` (M7). */
function deviceFailure(deviceStatus: number, payload: unknown): Failure {
  const { detail, invoked: said, status } = isObject(payload) ? payload : {};
  const known = Object.hasOwn(deviceFailures, deviceStatus) ? deviceFailures[deviceStatus] : undefined;
  // A device may act and then fail, and clients answer 400 for a handler that throws (M7).
  const invoked = effects.find((effect) => effect === said) ?? 'unknown';
  const methodStatus = Number.isSafeInteger(status) ? (status as number) : undefined;
  if (known === undefined) return malformed(`the status ${deviceStatus} is not allowed`, { invoked, methodStatus });
  const [reason, problem, advice] = known;
  const effect = effectTexts[invoked] + (advice !== undefined && invoked === 'no' ? `, ${advice}` : '');
  const foreignDetail = typeof detail === 'string' ? readable(detail) : undefined;
  return new Failure(reason, `${problem}; ${effect}`, { invoked, methodStatus, foreignDetail });
}

function malformed(problem: string, options: FailureOptions = {}): Failure {
  const { invoked = 'unknown' } = options;
  const detail = `the response of the device is malformed: ${problem}; ${effectTexts[invoked]}`;
  return new Failure('bad_reply', detail, options);
}

const readable = (text: string): string =>
  text
    .slice(0, maxDetailLength)
    .toWellFormed()
    .replace(/\bhttps?:\/\/\S+/gi, '…') // signed addresses of files, above all
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
