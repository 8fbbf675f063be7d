/** Limit of the hub for the response to a direct method (M3). */
export const maxResponseBytes = 131_072;

/** Response to the direct method: 200 with the reply of the module, or a status of M8 with a reason (M7). */
export type MethodResponse =
  | { readonly status: 200; readonly payload: { readonly status: number; readonly output?: object } }
  | { readonly status: FailureStatus; readonly payload: { readonly detail: string } };

/**
 * 400: the invocation is invalid. 404: no module for it. 502: it failed and may have run, or a file could not be
 * downloaded. 503: temporarily unavailable, and it has not run. 504: no reply in time.
 */
type FailureStatus = 400 | 404 | 502 | 503 | 504;

const maxDetailLength = 300;

export const failure = (status: FailureStatus, detail: string): MethodResponse => ({
  status,
  payload: {
    detail: detail.length <= maxDetailLength ? detail : `${detail.slice(0, maxDetailLength - 1).toWellFormed()}…`,
  },
});
