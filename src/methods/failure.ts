import { randomUUID } from 'node:crypto';
import { Cancelled } from '../backends/deadline.ts';
import type { HubError } from '../hub/methods/hubError.ts';
import type { LogLines } from '../observing/log.ts';
import { MalformedJson } from '../protocol/json.ts';
import { Rejection, shortened } from '../protocol/rejection.ts';
import { failures, type Invoked, type MethodFailure, type Reason } from '../protocol/vocabulary.ts';

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
  readonly status: number;

  constructor(reason: Reason, detail: string, options: FailureOptions = {}) {
    const { status, invoked, retryAfter } = { retryAfter: undefined, ...failures[reason] };
    super(`${reason}: ${shortened(detail)}`);
    this.reason = reason;
    this.detail = shortened(detail);
    this.foreignDetail = options.foreignDetail;
    this.retryAfter = options.retryAfter === null ? undefined : (options.retryAfter ?? retryAfter);
    this.invoked = options.invoked ?? invoked;
    this.methodStatus = options.methodStatus;
    this.fields = options.fields ?? {};
    this.status = status;
  }
}

export function errorsOf(failure: Failure, correlationId: string): object {
  const { reason, detail, foreignDetail, invoked, methodStatus, status } = failure;
  const text = foreignDetail ? shortened(`${detail}: ${foreignDetail}`) : detail;
  const meta = { reason, invoked, ...(methodStatus !== undefined && { status: methodStatus }) };
  return { errors: [{ code: String(status), title: failures[reason].title, detail: text, id: correlationId, meta }] };
}

/** The failure for an error before the call to the hub. Unforeseen ones are logged; the caller gets an incident id. */
export function failureFrom(error: unknown, correlationId: string, log: Pick<LogLines, 'error'>): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof MalformedJson) return new Failure('invalid_request', `the body ${error.message}`);
  if (error instanceof Cancelled) {
    return new Failure('stopping', 'this front door is stopping; nothing was invoked, repeat it at once');
  }
  if (error instanceof Rejection) {
    const detail = 'a look-up for the invocation failed; nothing was invoked, repeat it later';
    return new Failure('backend_unavailable', detail, { fields: { cause: error.details } });
  }
  const incident = randomUUID();
  log.error({ err: error, incident, correlationId }, 'unforeseen failure');
  return new Failure('internal_error', `internal error, incident ${incident}: tell the operator of the front door`);
}

/** Whether the method has run, as the end of a sentence. */
export const effectTexts: Readonly<Record<Invoked, string>> = {
  yes: 'the method has run',
  no: 'nothing was invoked',
  unknown: 'the method may have run, or still be running',
};

/** Reason and message for the caller, for each failure of the hub (M8). */
const messages: Readonly<
  Record<MethodFailure, readonly [Reason, string, Pick<FailureOptions, 'invoked' | 'retryAfter'>?]>
> = {
  device_offline: ['device_offline', 'the device is not connected, or does not listen to methods; nothing was invoked'],
  device_gone: ['outcome_unknown', `the hub lost the device, perhaps during the call; ${effectTexts.unknown}`],
  device_unknown: ['device_unknown', 'the device is not registered at the hub, or is disabled; nothing was invoked'],
  throttled: [
    'throttled',
    'the hub throttles method calls, in total or for this device; nothing was invoked, repeat it later',
  ],
  quota: [
    'throttled',
    'the daily quota of the hub is used up; nothing was invoked, repeat it after midnight UTC',
    { retryAfter: 3600 },
  ],
  refused: [
    'hub_refuses_us',
    'the hub refuses access to the front door; nothing was invoked, and its operator has been alerted',
  ],
  unavailable: ['hub_unavailable', 'the hub is unavailable; nothing was invoked, repeat it later'],
  too_large: ['too_large', 'the payload is too large for the hub; reduce the input'],
  bad_reply: ['bad_reply', 'the response of the device is malformed; the method may have run'],
  no_reply: ['no_reply', 'the device did not respond in time; the method may have run, or still be running'],
  outcome_unknown: ['outcome_unknown', `the connection to the hub ended before its response; ${effectTexts.unknown}`],
  invalid: [
    'internal_error',
    'the hub finds the invocation invalid, which is a defect of the front door: tell its operator',
    { invoked: 'no' },
  ],
  stopped_unsent: ['stopping', 'this front door is stopping; nothing was invoked, repeat it at once'],
  stopped: ['outcome_unknown', `this front door stopped before the device responded; ${effectTexts.unknown}`],
};

export function failureFromHub({ failure, retryAfter: ofHub }: HubError): Failure {
  const [reason, detail, options] = messages[failure];
  const isRetried = 'retryAfter' in failures[reason];
  return new Failure(reason, detail, { ...options, ...(isRetried && ofHub !== undefined && { retryAfter: ofHub }) });
}
