/** Whether the method has run, so that no caller repeats what must not run twice (M7, D40). */
export const effects = ['yes', 'no', 'unknown'] as const;

export type Invoked = (typeof effects)[number];

/** A failure as its caller learns it, unless more is known. */
interface MethodFailureForm {
  readonly status: number;
  readonly title: string;
  readonly invoked: Invoked;
  /** In seconds. */
  readonly retryAfter?: number;
}

/** All failures of an invocation (M8). */
export const failures = {
  invalid_request: { status: 400, title: 'Invalid request', invoked: 'no' },
  file_not_found: { status: 400, title: 'File not found', invoked: 'no' },
  file_too_large: { status: 400, title: 'File too large', invoked: 'no' },
  refused_by_device: { status: 400, title: 'Refused by the device', invoked: 'unknown' },
  unauthorized: { status: 401, title: 'Unauthorized', invoked: 'no' },
  forbidden: { status: 403, title: 'Forbidden', invoked: 'no' },
  object_not_found: { status: 404, title: 'Object model not found', invoked: 'no' },
  type_not_found: { status: 404, title: 'Type not found', invoked: 'no' },
  method_not_found: { status: 404, title: 'Method not found', invoked: 'no' },
  route_not_found: { status: 404, title: 'Route not found', invoked: 'no' },
  unknown_to_device: { status: 404, title: 'Unknown to the device', invoked: 'unknown' },
  request_timeout: { status: 408, title: 'Request timeout', invoked: 'no' },
  no_owner: { status: 409, title: 'No owner', invoked: 'no' },
  other_object: { status: 409, title: 'Another object', invoked: 'unknown' },
  too_large: { status: 413, title: 'Too large', invoked: 'no' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type', invoked: 'no' },
  expectation_failed: { status: 417, title: 'Expectation failed', invoked: 'no' },
  throttled: { status: 429, title: 'Throttled', invoked: 'no', retryAfter: 5 },
  internal_error: { status: 500, title: 'Internal error', invoked: 'unknown' },
  invalid_path: { status: 502, title: 'Invalid path of the object model', invoked: 'no' },
  bad_reply: { status: 502, title: 'Bad reply', invoked: 'unknown' },
  failed_at_device: { status: 502, title: 'Failed at the device', invoked: 'unknown' },
  device_offline: { status: 503, title: 'Device offline', invoked: 'no' },
  device_unknown: { status: 503, title: 'Device unknown to the hub', invoked: 'no' },
  unavailable_at_device: { status: 503, title: 'Unavailable at the device', invoked: 'unknown' },
  hub_unavailable: { status: 503, title: 'Hub unavailable', invoked: 'no', retryAfter: 5 },
  hub_refuses_us: { status: 503, title: 'Hub refuses the front door', invoked: 'no', retryAfter: 60 },
  backend_unavailable: { status: 503, title: 'Backend unavailable', invoked: 'no', retryAfter: 5 },
  storage_unavailable: { status: 503, title: 'Storage unavailable', invoked: 'no', retryAfter: 5 },
  overloaded: { status: 503, title: 'Overloaded', invoked: 'no', retryAfter: 1 },
  stopping: { status: 503, title: 'Stopping', invoked: 'no', retryAfter: 1 },
  no_reply: { status: 504, title: 'No reply in time', invoked: 'unknown' },
  no_reply_at_device: { status: 504, title: 'No reply in time at the device', invoked: 'unknown' },
  outcome_unknown: { status: 504, title: 'Outcome unknown', invoked: 'unknown' },
} as const satisfies Readonly<Record<string, MethodFailureForm>>;

export type Reason = keyof typeof failures;

/** Why a direct method has no response of the device. */
export const hubFailures = [
  /** The hub waited for it to connect: it never got the call. */
  'device_offline',
  /** It may have had the call. */
  'device_gone',
  'device_unknown',
  'throttled',
  'quota',
  'refused',
  'unavailable',
  'too_large',
  'bad_reply',
  'no_reply',
  'outcome_unknown',
  'invalid',
  /** This program has ended the call, before or after the request was sent. */
  'stopped_unsent',
  'stopped',
] as const;

export type MethodFailure = (typeof hubFailures)[number];
