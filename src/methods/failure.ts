import { shortened } from '../protocol/rejection.ts';
import { failures, type Invoked, type Reason } from '../protocol/vocabulary.ts';

export interface FailureOptions {
  /** Text of the device, which is sent to the caller but not logged. */
  readonly foreignDetail?: string | undefined;
  /** In whole seconds, or as a backend said it; by default that of the reason, none when null. */
  readonly retryAfter?: number | string | null | undefined;
  /** By default that of the reason. */
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
    const { foreignDetail, methodStatus, fields = {} } = options;
    const { invoked, retryAfter } = { retryAfter: undefined, ...failures[reason] };
    super(`${reason}: ${shortened(detail)}`);
    this.reason = reason;
    this.detail = shortened(detail);
    this.foreignDetail = foreignDetail;
    this.retryAfter = options.retryAfter === null ? undefined : (options.retryAfter ?? retryAfter);
    this.invoked = options.invoked ?? invoked;
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
