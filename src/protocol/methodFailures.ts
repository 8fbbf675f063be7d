/** All failures of an invocation, as its caller learns them (M8). */
export const failures = {
  invalid_request: { status: 400, title: 'Invalid request' },
  file_not_found: { status: 400, title: 'File not found' },
  file_too_large: { status: 400, title: 'File too large' },
  refused_by_device: { status: 400, title: 'Refused by the device' },
  unauthorized: { status: 401, title: 'Unauthorized' },
  forbidden: { status: 403, title: 'Forbidden' },
  object_not_found: { status: 404, title: 'Object model not found' },
  type_not_found: { status: 404, title: 'Type not found' },
  method_not_found: { status: 404, title: 'Method not found' },
  route_not_found: { status: 404, title: 'Route not found' },
  unknown_to_device: { status: 404, title: 'Unknown to the device' },
  request_timeout: { status: 408, title: 'Request timeout' },
  no_owner: { status: 409, title: 'No owner' },
  other_object: { status: 409, title: 'Another object' },
  too_large: { status: 413, title: 'Too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  expectation_failed: { status: 417, title: 'Expectation failed' },
  throttled: { status: 429, title: 'Throttled' },
  internal_error: { status: 500, title: 'Internal error' },
  invalid_path: { status: 502, title: 'Invalid path of the object model' },
  bad_reply: { status: 502, title: 'Bad reply' },
  failed_at_device: { status: 502, title: 'Failed at the device' },
  device_offline: { status: 503, title: 'Device offline' },
  device_unknown: { status: 503, title: 'Device unknown to the hub' },
  unavailable_at_device: { status: 503, title: 'Unavailable at the device' },
  hub_unavailable: { status: 503, title: 'Hub unavailable' },
  hub_refuses_us: { status: 503, title: 'Hub refuses the front door' },
  backend_unavailable: { status: 503, title: 'Backend unavailable' },
  storage_unavailable: { status: 503, title: 'Storage unavailable' },
  overloaded: { status: 503, title: 'Overloaded' },
  stopping: { status: 503, title: 'Stopping' },
  no_reply: { status: 504, title: 'No reply in time' },
  no_reply_at_device: { status: 504, title: 'No reply in time at the device' },
  outcome_unknown: { status: 504, title: 'Outcome unknown' },
} as const;

export type Reason = keyof typeof failures;

/** Whether the method has run, so that no caller repeats what must not run twice (M7, D40). */
export const effects = ['yes', 'no', 'unknown'] as const;

export type Invoked = (typeof effects)[number];

/** What is known after a status of M8 that says nothing more (M7). */
export const invokedAfter = (status: number): Invoked =>
  status === 500 || status === 502 || status === 504 ? 'unknown' : 'no';

/** Why a direct method has no response of the device. */
export const hubFailures = [
  'device_offline',
  /** It disconnected after the call had reached it. */
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
