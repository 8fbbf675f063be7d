import { inexactIn, isShallow } from '@device-messaging/telemetry/exactJson.ts';
import { failure, type Invocation, type MethodResponse, maxResponseBytes } from '../hub/invocation.ts';
import type { Log, LogText } from '../observing/log.ts';
import type { Meter } from '../observing/metrics.ts';
import type { Route } from './routing.ts';

/**
 * The MQTT message to a module: `{in}/{method}/{requestId}` with the inputs for the owner of the object, `{in}/$proxy/{requestId}` for a gateway (M10).
 * @param fileNames replace the values of inputs that are files
 */
export function requestFor(
  { objectId, method, input }: Invocation,
  { module, isGateway }: Route,
  requestId: string,
  fileNames: Readonly<Record<string, string>> = {},
) {
  const inputs = input && { ...input, ...fileNames };
  const body = isGateway ? { objectId, method, ...(inputs && { input: inputs }) } : inputs;
  return {
    topic: `${module.topics_methods_in}/${isGateway ? '$proxy' : method}/${requestId}`,
    payload: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
  };
}

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

export type DropReason = 'unknown' | 'retained';

const intervalMs = 60_000;

const messages: Readonly<Record<DropReason, LogText<'warn'>>> = {
  unknown: 'replies dropped: late, repeated, or to a request that this module did not get',
  retained: 'replies dropped: retained at the broker from an earlier time',
};

export type DroppedReplies = ReturnType<typeof createDroppedReplies>;

/** Counts the replies that match no pending request (M11); logs at most one line per minute, module and reason. */
export function createDroppedReplies(log: Log, meter: Meter) {
  const countDropped = meter.counter('device_messaging.edge.replies.dropped');
  const counts = new Map<string, { count: number; timer: NodeJS.Timeout }>();

  const write = (module: string, reason: DropReason, count: number) => log.warn({ module, count }, messages[reason]);

  return {
    count(moduleId: string, reason: DropReason) {
      countDropped(moduleId, reason);
      const key = `${reason} ${moduleId}`;
      const known = counts.get(key);
      if (known) {
        known.count += 1;
        return;
      }
      write(moduleId, reason, 1);
      const timer = setTimeout(() => {
        const count = counts.get(key)?.count ?? 0;
        counts.delete(key);
        if (count > 0) write(moduleId, reason, count);
      }, intervalMs).unref();
      counts.set(key, { count: 0, timer });
    },
    close() {
      for (const { timer } of counts.values()) clearTimeout(timer);
      counts.clear();
    },
  };
}
