/** Why the hub did not take a reply. */
export interface Refusal {
  /**
   * `connection`: the line's fault, not the reply's; `hub`: the hub takes no reply of anybody for now; `later`: worth
   * another try; `never`: final.
   */
  readonly kind: 'connection' | 'hub' | 'later' | 'never';
  readonly reason: DropReason | 'quota' | 'suspended';
  /** Of a send that was not settled in time: what it comes to when the hub settles it after all. */
  readonly late?: Promise<Refusal | undefined>;
}

export type DropReason =
  | 'hub_unavailable'
  | 'queue_full'
  | 'throttled'
  | 'unanswered'
  | 'not_taken'
  | 'unknown_device'
  | 'too_large'
  | 'refused';

/** Conditions of an answer that say nothing of the line, and pass; the client has no name for them, or a misleading one. */
const passing: readonly unknown[] = [
  'com.microsoft:server-busy',
  'com.microsoft:timeout',
  'com.microsoft:operation-cancelled',
  'amqp:resource-locked',
];

const quota: Refusal = { kind: 'hub', reason: 'quota' };

/** The client's error names, from the AMQP conditions the hub answers with (C4). */
const refusals: Readonly<Record<string, Refusal>> = {
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
 * The client takes every `amqp:resource-limit-exceeded` for the full queue of one device (403004). It is also the daily
 * quota of the whole hub (403002); only the description tells.
 */
const isQuota = ({ amqpError }: ClientError): boolean =>
  amqpError?.condition === 'amqp:resource-limit-exceeded' &&
  /\b403002\b|QuotaExceeded|allocated quota/i.test(String(amqpError.description));

/** What an error of the client says of the reply, of the line, and of the hub. */
export function refusalOf(error: ClientError): Refusal {
  const condition = error.amqpError?.condition;
  if (passing.includes(condition)) return { kind: 'later', reason: 'throttled' };
  if (isQuota(error)) return quota;
  const known = refusals[error.constructor.name];
  if (known) return known;
  if (/^amqp:(connection|session|link):/.test(String(condition)))
    return { kind: 'connection', reason: 'hub_unavailable' };
  if (error instanceof ReferenceError || error instanceof URIError) return { kind: 'never', reason: 'refused' };
  // Any other answer of the hub is final; an error without one is the line's.
  return condition === undefined
    ? { kind: 'connection', reason: 'hub_unavailable' }
    : { kind: 'never', reason: 'refused' };
}
