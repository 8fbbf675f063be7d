/** Why the hub did not take a reply. `connection`: nobody's fault but the line's; `later`: worth another try; `never`: final. */
export interface Refusal {
  readonly kind: 'connection' | 'later' | 'never';
  readonly reason: DropReason;
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

/** The client's error names, from the AMQP conditions the hub answers with (C4). */
const refusals: Readonly<Record<string, Refusal>> = {
  DeviceMaximumQueueDepthExceededError: { kind: 'later', reason: 'queue_full' },
  ThrottlingError: { kind: 'later', reason: 'throttled' },
  IotHubQuotaExceededError: { kind: 'later', reason: 'throttled' },
  IoTHubSuspendedError: { kind: 'later', reason: 'throttled' },
  InternalServerError: { kind: 'later', reason: 'not_taken' },
  DeviceNotFoundError: { kind: 'never', reason: 'unknown_device' },
  MessageTooLargeError: { kind: 'never', reason: 'too_large' },
  ServiceUnavailableError: { kind: 'connection', reason: 'hub_unavailable' },
  NotConnectedError: { kind: 'connection', reason: 'hub_unavailable' },
  UnauthorizedError: { kind: 'connection', reason: 'hub_unavailable' },
};

/** What an error of the client says of the reply, and of the line. */
export function refusalOf(error: Error & { amqpError?: { condition?: unknown } }): Refusal {
  const condition = error.amqpError?.condition;
  if (passing.includes(condition)) return { kind: 'later', reason: 'throttled' };
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
