/** Limit of the hub for the response to a direct method (M3). */
export const maxResponseBytes = 131_072;

/**
 * Why an invocation fails, for operators, and the status that tells the front door (M8). 400: the invocation is invalid.
 * 404: no module for it. 502: it failed and may have run, or a file could not be downloaded. 503: temporarily
 * unavailable, and it has not run. 504: no reply in time.
 */
export const failures = {
  invalid_invocation: 400,
  no_module: 404,
  file_not_downloaded: 502,
  bad_reply: 502,
  internal_error: 502,
  overloaded: 503,
  stopping: 503,
  broker_unavailable: 503,
  folder_unavailable: 503,
  too_late: 503,
  no_reply: 504,
  aborted: 504,
} as const;

export type Reason = keyof typeof failures;

/** Response to the direct method: 200 with the reply of the module, or a status of M8 (M7). The hub does not get the reason. */
export type MethodResponse =
  | { readonly status: 200; readonly payload: { readonly status: number; readonly output?: object } }
  | {
      readonly status: (typeof failures)[Reason];
      readonly reason: Reason;
      readonly payload: { readonly detail: string };
    };

const maxDetailLength = 300;

export const failure = (reason: Reason, detail: string): MethodResponse => ({
  status: failures[reason],
  reason,
  payload: {
    detail: detail.length <= maxDetailLength ? detail : `${detail.slice(0, maxDetailLength - 1).toWellFormed()}…`,
  },
});
