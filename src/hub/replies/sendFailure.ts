import type { Trouble, Troubles } from '../../observing/log.ts';
import type { Reply } from '../../protocol/reply.ts';
import type { RefusalReason } from '../../protocol/vocabulary.ts';

export interface SendRefusal {
  /** `connection`: it has failed; `hub`: refuses every reply for now; `later`: another attempt may succeed; `never`: final. */
  readonly kind: 'connection' | 'hub' | 'later' | 'never';
  readonly reason: RefusalReason;
  /** For a send that was not settled in time: its result, when the hub settles it later. */
  readonly late?: Promise<SendRefusal | undefined>;
}

/** Temporary conditions that are no fault of the connection; the client has no name for them, or a misleading one. */
const passing = /^(com\.microsoft:(server-busy|timeout|operation-cancelled)|amqp:resource-locked)$/;

/** The connection has failed, or there is none. */
export const unreachable: SendRefusal = { kind: 'connection', reason: 'hub_unavailable' };
const throttled: SendRefusal = { kind: 'later', reason: 'throttled' };
const quota: SendRefusal = { kind: 'hub', reason: 'quota' };
const refused: SendRefusal = { kind: 'never', reason: 'refused' };

/** By the client's names for the hub's AMQP error conditions (C4; facts c2d.pending, c2d.unknown-device). */
const refusals: Readonly<Record<string, SendRefusal>> = {
  DeviceMaximumQueueDepthExceededError: { kind: 'later', reason: 'queue_full' },
  ThrottlingError: throttled,
  IotHubQuotaExceededError: quota,
  IoTHubSuspendedError: { kind: 'hub', reason: 'suspended' },
  InternalServerError: { kind: 'later', reason: 'not_taken' },
  DeviceNotFoundError: { kind: 'never', reason: 'unknown_device' },
  MessageTooLargeError: { kind: 'never', reason: 'too_large' },
  ServiceUnavailableError: unreachable,
  NotConnectedError: unreachable,
  UnauthorizedError: unreachable,
  ReferenceError: refused,
  URIError: refused,
};

type ClientError = Error & { readonly amqpError?: { readonly condition?: unknown; readonly description?: unknown } };

/** The client takes it for the full queue of a device (403004): the same condition, another description (facts c2d.quota, c2d.words). */
const isQuota = ({ amqpError }: ClientError): boolean =>
  amqpError?.condition === 'amqp:resource-limit-exceeded' &&
  /\b403002\b|QuotaExceeded|allocated quota/i.test(String(amqpError.description));

export function sendRefusalOf(error: ClientError): SendRefusal {
  const condition = error.amqpError?.condition;
  if (passing.test(String(condition))) return throttled;
  if (isQuota(error)) return quota;
  const known = refusals[error.constructor.name];
  if (known) return known;
  // Any other answer of the hub is final; an error without a condition is a failure of the connection.
  return condition === undefined || /^amqp:(connection|session|link):/.test(String(condition)) ? unreachable : refused;
}

const lasting = { level: 'error', still: () => ({}) } as const;

/** Troubles that concern more than one reply. Those of a single reply are in the log line of its message. */
const remarks: Partial<Record<RefusalReason, Trouble>> = {
  quota: { ...lasting, message: 'the hub’s daily quota is used up; replies wait, one is tried each minute' },
  suspended: { ...lasting, message: 'the hub is suspended; replies wait, one is tried each minute' },
  throttled: { level: 'warn', message: 'the hub throttles replies; they are sent more slowly' },
  queue_full: { level: 'warn', message: 'devices do not fetch their replies, which wait for room in their queues' },
  unanswered: { level: 'warn', message: 'the hub did not settle a reply in time' },
};

/** Logs what the result of a send shows about the hub. */
export function reportRefusal(refusal: SendRefusal | undefined, { deviceId }: Reply, troubles: Troubles): void {
  if (refusal?.kind !== 'hub' && refusal?.kind !== 'connection') {
    for (const source of ['replies quota', 'replies suspended']) troubles.clear(source, 'the hub takes replies again');
  }
  const remark = refusal && remarks[refusal.reason];
  if (remark) troubles.raise(`replies ${refusal.reason}`, { ...remark, fields: { device: deviceId } });
}
