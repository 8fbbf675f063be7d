/** The largest answer to a direct method (M3). */
export const maxAnswerBytes = 131_072;

/** What is answered to the hub: 200 with what the method's owner said, or a status of M8 with the reason (M7). */
export type Answer =
  | { readonly status: 200; readonly payload: { readonly status: number; readonly output?: object } }
  | { readonly status: FailureStatus; readonly payload: { readonly detail: string } };

/**
 * 400: wrong as it is. 404: nobody here has it. 502: it failed and may have run, or a file could not be fetched. 503: not
 * now, and it has not run. 504: no reply in time.
 */
export type FailureStatus = 400 | 404 | 502 | 503 | 504;

const longestDetail = 300;

export const failure = (status: FailureStatus, detail: string): Answer => ({
  status,
  payload: {
    detail: detail.length <= longestDetail ? detail : `${detail.slice(0, longestDetail - 1).toWellFormed()}…`,
  },
});
