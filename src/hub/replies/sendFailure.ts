import type { RefusalReason } from '../../protocol/vocabulary.ts';

/** Why the hub did not take a reply. */
export interface SendRefusal {
  /**
   * `connection`: the connection has failed; `hub`: the hub refuses every reply for now; `later`: another attempt may
   * succeed; `never`: final.
   */
  readonly kind: 'connection' | 'hub' | 'later' | 'never';
  readonly reason: RefusalReason;
  /** For a send that was not settled in time: its result, when the hub settles it later. */
  readonly late?: Promise<SendRefusal | undefined>;
}

/** Temporary conditions that are no fault of the connection; the client has no name for them, or a misleading one. */
const passing: readonly unknown[] = [
  'com.microsoft:server-busy',
  'com.microsoft:timeout',
  'com.microsoft:operation-cancelled',
  'amqp:resource-locked',
];

const quota: SendRefusal = { kind: 'hub', reason: 'quota' };

/** By the client's names for the hub's AMQP error conditions (C4; facts c2d.pending, c2d.unknown-device). */
const refusals: Readonly<Record<string, SendRefusal>> = {
  DeviceMaximumQueueDepthExceededError: { kind: 'later', reason: 'queue_full' },
  ThrottlingError: { kind: 'later', reason: 'throttled' },
  IotHubQuotaExceededError: quota,
  IoTHubSuspendedError: { kind: 'hub', reason: 'suspended' },
  InternalServerError: { kind: 'later', reason: 'not_taken' },
  DeviceNotFoundError: { kind: 'never', reason: 'unknown_device' },
  MessageTooLargeError: { kind: 'never', reason: 'too_large' },
  ServiceUnavailableError: { kind: 'connection', reason: 'hub_unavailable' },
  NotConnectedError: { kind: 'connection', reason: 'hub_unavailable' },
  UnauthorizedError: { kind: 'connection', reason: 'hub_unavailable' },
};

type ClientError = Error & { readonly amqpError?: { readonly condition?: unknown; readonly description?: unknown } };

/**
 * The client maps every `amqp:resource-limit-exceeded` to the full queue of one device (403004). The daily quota of the
 * hub (403002) has the same condition; only the description differs (facts c2d.quota, c2d.words).
 */
const isQuota = ({ amqpError }: ClientError): boolean =>
  amqpError?.condition === 'amqp:resource-limit-exceeded' &&
  /\b403002\b|QuotaExceeded|allocated quota/i.test(String(amqpError.description));

export function sendRefusalOf(error: ClientError): SendRefusal {
  const condition = error.amqpError?.condition;
  if (passing.includes(condition)) return { kind: 'later', reason: 'throttled' };
  if (isQuota(error)) return quota;
  const known = refusals[error.constructor.name];
  if (known) return known;
  if (/^amqp:(connection|session|link):/.test(String(condition)))
    return { kind: 'connection', reason: 'hub_unavailable' };
  if (error instanceof ReferenceError || error instanceof URIError) return { kind: 'never', reason: 'refused' };
  // Any other answer of the hub is final; an error without a condition is a failure of the connection.
  return condition === undefined
    ? { kind: 'connection', reason: 'hub_unavailable' }
    : { kind: 'never', reason: 'refused' };
}
