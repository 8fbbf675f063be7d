import type { Log } from '../log/log.ts';
import type { Caller } from './bearer.ts';
import { Failure } from './failure.ts';

/** Fields of the log line of a request. */
export interface RequestFields {
  readonly correlationId: string;
  readonly objectId: string;
  readonly model: string;
  readonly method: string;
  traceId?: string;
  caller?: Caller;
  device?: string;
  target?: string;
  timeout?: number;
  /** Duration of the call to the hub, in ms. */
  hubMs?: number;
  /** HTTP status and error code of the hub. */
  hubStatus?: number;
  errorCode?: number;
  methodStatus?: number;
}

/** Writes one log line for a request, when the response is closed and the work on the request has ended. */
export interface RequestLog {
  /**
   * Delays the log line until the work has ended, even if the caller disconnects.
   * @throws Failure when the line is already written
   */
  track<T>(work: () => Promise<T>): Promise<T>;
  failed(failure: Failure): void;
  /** @param status of the response; undefined when the caller disconnected before it was sent */
  closed(status: number | undefined): void;
}

/**
 * @param onEnd called once, after the line is written
 * @param onOutcome called before `onEnd`
 */
export function createRequestLog(
  fields: RequestFields,
  log: Log,
  onEnd: () => void,
  onOutcome: (status: number | undefined, failure: Failure | undefined) => void,
): RequestLog {
  const startedAt = performance.now();
  let failure: Failure | undefined;
  let isWorking = false;
  let isWritten = false;
  let response: { readonly status: number | undefined } | undefined;

  function writeWhenEnded() {
    if (isWorking || isWritten || response === undefined) return;
    isWritten = true;
    const { status } = response;
    const line = {
      ...fields,
      ...(status === undefined ? { callerGone: true } : { status }),
      ...(failure && { reason: failure.reason, invoked: failure.invoked, details: failure.detail, ...failure.fields }),
      durationMs: Math.round(performance.now() - startedAt),
    };
    if (failure === undefined && status !== undefined) log.info(line, 'method invoked');
    else if ((failure?.status ?? 0) < 500 && (failure?.invoked ?? 'no') === 'no') log.info(line, 'method not invoked');
    else log.warn(line, 'method not invoked, or its outcome is unknown');
    onOutcome(status, failure);
    onEnd();
  }

  return {
    async track(work) {
      if (isWritten) throw new Failure('invalid_request', 'the caller has disconnected');
      isWorking = true;
      try {
        return await work();
      } finally {
        isWorking = false;
        writeWhenEnded();
      }
    },
    failed(error) {
      failure ??= error;
    },
    closed(status) {
      response ??= { status };
      writeWhenEnded();
    },
  };
}
