import { maxJsonDepth } from '../protocol/json.ts';
import { Failure, type Reason } from './failure.ts';

/** The largest payload of a direct method, and the largest answer, each way (M3). */
export const maxPayloadBytes = 131_072;

/** What the front door answers to the application (M7). */
export interface MethodResult {
  readonly status: number;
  readonly output?: Readonly<Record<string, unknown>>;
}

/** What a device may say of an invocation that it could not carry out (M8, D42). */
const ofTheDevice: Readonly<Record<number, Reason>> = {
  400: 'refused_by_device',
  404: 'unknown_to_device',
  502: 'failed_at_device',
  503: 'unavailable_at_device',
  504: 'no_reply_at_device',
};

const longestDetail = 300;

/**
 * Reads what the device has answered to the direct method: 200 with `{status, output?}` of the method's owner, or one of
 * a few other statuses with `{detail}` (M7).
 * @throws Failure
 */
export function readAnswer(status: number, payload: unknown): MethodResult {
  if (status !== 200) throw failureOfDevice(status, payload);
  if (!isObject(payload)) throw badReply('its answer is no JSON object');
  const { status: own, output } = payload;
  if (!Number.isSafeInteger(own)) throw badReply('its answer has no integer status');
  if (output !== undefined && !isObject(output)) throw badReply('the output in its answer is no JSON object');
  if (!isShallow(payload, maxJsonDepth)) throw badReply(`its answer is nested more than ${maxJsonDepth} levels deep`);
  if (Buffer.byteLength(JSON.stringify(payload)) > maxPayloadBytes) {
    throw badReply(`its answer has more than ${maxPayloadBytes} bytes`);
  }
  return { status: own as number, ...(output !== undefined && { output }) };
}

function failureOfDevice(status: number, payload: unknown): Failure {
  const reason = Object.hasOwn(ofTheDevice, status) ? ofTheDevice[status] : undefined;
  if (reason === undefined) return badReply(`it answered with status ${status}, which says nothing here`);
  const detail = isObject(payload) ? payload['detail'] : undefined;
  const words = typeof detail === 'string' ? readable(detail) : undefined;
  return new Failure(reason, sentences[reason] ?? 'the device could not carry it out', { words });
}

const sentences: Partial<Readonly<Record<Reason, string>>> = {
  refused_by_device: 'the device refuses this invocation as it is; change it before you repeat it',
  unknown_to_device: 'the device knows nobody who has this object and this method',
  failed_at_device: 'the device could not carry the invocation out, or got no proper reply; the method may have run',
  unavailable_at_device: 'the device cannot carry the invocation out now, and has not; repeat it later',
  no_reply_at_device: 'the method did not reply to the device in time; it may have run, or still be running',
};

const badReply = (why: string): Failure =>
  new Failure('bad_reply', `the device does not answer as it should: ${why}; the method may have run`);

const readable = (text: string): string =>
  text
    .slice(0, longestDetail)
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** It must not overflow the stack of those who write it. */
function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isShallow(member, depth - 1));
}
