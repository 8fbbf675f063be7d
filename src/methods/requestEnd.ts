import { Failure } from './failure.ts';

/** The end of a request: when its response is closed and the work on it has ended, even if the caller has disconnected. */
export interface RequestEnd {
  /**
   * Delays the end until the work has ended.
   * @throws Failure when the request has ended
   */
  track<T>(work: () => Promise<T>): Promise<T>;
  failed(failure: Failure): void;
  /** @param status of the response; undefined when the caller disconnected before it was sent */
  closed(status: number | undefined): void;
}

/** @param onEnd called once */
export function createRequestEnd(
  onEnd: (status: number | undefined, failure: Failure | undefined) => void,
): RequestEnd {
  let failure: Failure | undefined;
  let isWorking = false;
  let hasEnded = false;
  let response: { readonly status: number | undefined } | undefined;

  function endWhenDone() {
    if (isWorking || hasEnded || response === undefined) return;
    hasEnded = true;
    onEnd(response.status, failure);
  }

  return {
    async track(work) {
      if (hasEnded) throw new Failure('invalid_request', 'the caller has disconnected');
      isWorking = true;
      try {
        return await work();
      } finally {
        isWorking = false;
        endWhenDone();
      }
    },
    failed(error) {
      failure ??= error;
    },
    closed(status) {
      response ??= { status };
      endWhenDone();
    },
  };
}
