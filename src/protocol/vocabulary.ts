export const faults = ['device', 'hub', 'service'] as const;

/** All result codes of acknowledgements. Messages that fail with `fault` service are parked (G4). */
export const resultCodes = {
  ok: { fault: 'nobody' },
  validation_error: { fault: 'device' },
  platform_event_validation_error: { fault: 'device' },
  not_authorized: { fault: 'device' },
  http_response_error: { fault: 'device' },
  operation_not_supported: { fault: 'device' },
  decompression_error: { fault: 'device' },
  response_too_large: { fault: 'device' },
  delivery_failed: { fault: 'hub' },
  timeout_exceeded: { fault: 'service' },
  internal_platform_error: { fault: 'service' },
} as const satisfies Record<string, { fault: 'nobody' | (typeof faults)[number] }>;
export type ResultCode = keyof typeof resultCodes;
export type FailureCode = Exclude<ResultCode, 'ok'>;

export const dropReasons = [
  'hub_unavailable',
  'queue_full',
  'throttled',
  'unanswered',
  'not_taken',
  'unknown_device',
  'too_large',
  'refused',
] as const;
export type DropReason = (typeof dropReasons)[number];

/** Why the hub did not take a reply in one attempt; for the last two it is sent again until the hub takes it. */
export const refusalReasons = [...dropReasons, 'quota', 'suspended'] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** The result for a reply: accepted by the hub, dropped for good, or stopped because the session has ended. */
export type Delivery = 'delivered' | 'stopped' | { readonly dropped: DropReason };

/** The backends, and what gives the tokens for them: by their keys in fields and attributes, their names in texts. */
export const backendNames = {
  informationModel: 'information model',
  typeRegistry: 'type registry',
  principalManager: 'principal manager',
  tokenEndpoint: 'token endpoint',
} as const;
export type BackendKey = keyof typeof backendNames;

export const httpMethods = ['GET', 'POST', 'PUT', 'DELETE'] as const;
export type HttpMethod = (typeof httpMethods)[number];

/** The reasons for which an attempt ends without a response, as texts for `details`. */
export const transportFaults = [
  'connection refused',
  'no connection',
  'too many open files',
  'connection lost',
  'no answer in time',
  'answer too large',
] as const;
export type TransportFault = (typeof transportFaults)[number];

/** What keeps something for the programs, by its keys in attributes. */
export const stores = ['checkpoints', 'deadLetters', 'files'] as const;
export type StoreKey = (typeof stores)[number];

export const storeOperations = ['list', 'read', 'write', 'delete'] as const;
export type StoreOperation = (typeof storeOperations)[number];

/** Why a store has not done it: it has answered so, or has not answered as it should. */
export const storeFaults = ['refused', 'unavailable'] as const;
export type StoreFault = (typeof storeFaults)[number];

/** Whether the method has run, so that no caller repeats what must not run twice (M7, D40). */
export const effects = ['yes', 'no', 'unknown'] as const;
export type Invoked = (typeof effects)[number];

/** All failures of an invocation (M8), as the caller learns them unless more is known; `retryAfter` in seconds. */
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
} as const satisfies Record<string, { status: number; title: string; invoked: Invoked; retryAfter?: number }>;
export type Reason = keyof typeof failures;

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
