import { inexactIn, isShallow } from '@device-messaging/telemetry/exactJson.ts';
import { failure, type MethodResponse, maxResponseBytes } from '../hub/methodResponse.ts';

/** A message on the topic `{out}/{status}/{requestId}` of a module. */
export interface Reply {
  /** `{out}`, which only one module has. */
  readonly topic: string;
  readonly requestId: string;
  /** As in the topic. */
  readonly status: string;
  readonly payload: Buffer;
  readonly isRetained: boolean;
}

const maxDepth = 63;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The module's status and output, or a failure when the reply is malformed (M11) or cannot be carried exactly (M7). */
export function responseTo({ status: text, payload }: Pick<Reply, 'status' | 'payload'>): MethodResponse {
  const status = /^(?:0|-?[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(status)) return malformed('its status is not an integer within ±(2^53−1)');
  if (payload.length === 0) return { status: 200, payload: { status } };
  const tooLarge = malformed(`with its status it has more than ${maxResponseBytes} bytes`, status);
  if (payload.length > maxResponseBytes) return tooLarge;
  const read = objectIn(payload);
  if (!read) return malformed('its payload is neither empty nor a JSON object', status);
  if (!isShallow(read.output, maxDepth))
    return malformed(`its payload is nested more than ${maxDepth} levels deep`, status);
  const inexact = inexactIn(read.json);
  // Without the place, which the payload has named: this is logged (G5).
  if (inexact !== undefined) return malformed(`part of its payload ${inexact.problem}`, status);
  const response = { status, output: read.output };
  // Serialised anew, numbers and escapes can become longer.
  if (Buffer.byteLength(JSON.stringify(response)) > maxResponseBytes) return tooLarge;
  return { status: 200, payload: response };
}

const malformed = (problem: string, status?: number): MethodResponse =>
  failure('bad_reply', `the module sent a malformed reply: ${problem}`, status);

function objectIn(payload: Buffer): { readonly json: string; readonly output: object } | undefined {
  try {
    const json = strictUtf8.decode(payload);
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { json, output: value } : undefined;
  } catch {
    return undefined;
  }
}
