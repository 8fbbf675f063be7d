import { shortened } from '../protocol/details.ts';

/** All failures (M8). */
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

/** Whether the method has run, so that nobody repeats what must not run twice (M7, D40). */
export const effects = ['yes', 'no', 'unknown'] as const;

export type Invoked = (typeof effects)[number];

/** What is known after a status of M8 that says nothing more (M7). */
export const invokedAfter = (status: number): Invoked =>
  status === 500 || status === 502 || status === 504 ? 'unknown' : 'no';

export interface FailureOptions {
  /** Text of the device or a backend, which is sent to the caller but not logged. */
  readonly foreignDetail?: string | undefined;
  /** In whole seconds, or as a backend said it. */
  readonly retryAfter?: number | string | undefined;
  /** By default what the status says. */
  readonly invoked?: Invoked | undefined;
  /** Of the method, when it has replied. */
  readonly methodStatus?: number | undefined;
  /** For the log only. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A failed invocation. `detail` is a sentence for the developer of the application, without secrets (G5). */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly reason: Reason;
  readonly detail: string;
  readonly foreignDetail: string | undefined;
  readonly retryAfter: number | string | undefined;
  readonly invoked: Invoked;
  readonly methodStatus: number | undefined;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(reason: Reason, detail: string, options: FailureOptions = {}) {
    const { foreignDetail, retryAfter, methodStatus, fields = {} } = options;
    super(`${reason}: ${shortened(detail)}`);
    this.reason = reason;
    this.detail = shortened(detail);
    this.foreignDetail = foreignDetail;
    this.retryAfter = retryAfter;
    this.invoked = options.invoked ?? invokedAfter(failures[reason].status);
    this.methodStatus = methodStatus;
    this.fields = fields;
  }

  get status(): number {
    return failures[this.reason].status;
  }
}

/** The errors body, as of the backends. */
export function errorsOf(failure: Failure, correlationId: string): object {
  const { reason, detail, foreignDetail, invoked, methodStatus } = failure;
  const { status, title } = failures[reason];
  const text = foreignDetail ? shortened(`${detail}: ${foreignDetail}`) : detail;
  const meta = { reason, invoked, ...(methodStatus !== undefined && { status: methodStatus }) };
  return { errors: [{ code: String(status), title, detail: text, id: correlationId, meta }] };
}
