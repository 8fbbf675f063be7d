import type { Log } from '../log.ts';
import type { Caller } from './bearer.ts';
import { Failure } from './failure.ts';

/** What is found out about one request on its way; it becomes the log line. */
export interface Fields {
  readonly correlationId: string;
  readonly objectId: string;
  readonly model: string;
  readonly method: string;
  caller?: Caller;
  device?: string;
  target?: string;
  timeout?: number;
  /** How long the hub took, in ms. */
  hubMs?: number;
  /** HTTP status and error code of the hub. */
  hubStatus?: number;
  errorCode?: number;
  /** The method's own status. */
  methodStatus?: number;
}

/** One request from its arrival to its log line. */
export interface Course {
  readonly fields: Fields;
  /**
   * Nothing is logged before the work has ended, even if the caller is gone.
   * @throws Failure when the caller had gone before
   */
  working<T>(work: () => Promise<T>): Promise<T>;
  failed(failure: Failure): void;
  /** @param status that was answered; undefined when the caller had gone before */
  closed(status: number | undefined): void;
}

/** @param ended called once, after the line is written: the request takes no room any more */
export function createCourse(fields: Fields, log: Log, ended: () => void): Course {
  const began = performance.now();
  let failure: Failure | undefined;
  let isWorking = false;
  let isConcluded = false;
  let closing: { readonly status: number | undefined } | undefined;

  function conclude() {
    if (isWorking || isConcluded || closing === undefined) return;
    isConcluded = true;
    const { status } = closing;
    const line = {
      ...fields,
      ...(status === undefined ? { callerGone: true } : { status }),
      ...(failure && { reason: failure.reason, details: failure.detail, ...failure.fields }),
      durationMs: Math.round(performance.now() - began),
    };
    if (failure === undefined && status !== undefined) log.info(line, 'method invoked');
    else if ((failure?.status ?? 0) < 500) log.info(line, 'method not invoked');
    else log.warn(line, 'method not invoked, or its outcome is unknown');
    ended();
  }

  return {
    fields,
    async working(work) {
      if (isConcluded) throw new Failure('invalid_request', 'the caller has gone');
      isWorking = true;
      try {
        return await work();
      } finally {
        isWorking = false;
        conclude();
      }
    },
    failed(found) {
      failure ??= found;
    },
    closed(status) {
      closing ??= { status };
      conclude();
    },
  };
}
