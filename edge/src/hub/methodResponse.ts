/** Limit of the hub for the response to a direct method (M3). */
export const maxResponseBytes = 131_072;

/** Whether the method has run, so that no caller repeats it (M7). */
type Invoked = 'yes' | 'no' | 'unknown';

interface Failing {
  /** Of M8. 502: it failed and may have run, or a file could not be downloaded. 503: temporarily unavailable. */
  readonly status: 400 | 404 | 409 | 502 | 503 | 504;
  readonly invoked: Invoked;
}

/** Why an invocation fails, for operators, and what that tells the front door. */
export const failures = {
  invalid_invocation: { status: 400, invoked: 'no' },
  takes_no_files: { status: 400, invoked: 'no' },
  no_module: { status: 404, invoked: 'no' },
  other_object: { status: 409, invoked: 'no' },
  file_not_downloaded: { status: 502, invoked: 'no' },
  bad_reply: { status: 502, invoked: 'yes' },
  internal_error: { status: 502, invoked: 'unknown' },
  overloaded: { status: 503, invoked: 'no' },
  stopping: { status: 503, invoked: 'no' },
  broker_unavailable: { status: 503, invoked: 'no' },
  folder_unavailable: { status: 503, invoked: 'no' },
  too_late: { status: 503, invoked: 'no' },
  no_reply: { status: 504, invoked: 'unknown' },
  aborted: { status: 504, invoked: 'unknown' },
} as const satisfies Readonly<Record<string, Failing>>;

export type Reason = keyof typeof failures;

/** Response to the direct method: 200 with the reply of the module, or a status of M8 (M7). The hub does not get the reason. */
export type MethodResponse =
  | { readonly status: 200; readonly payload: { readonly status: number; readonly output?: object } }
  | {
      readonly status: Failing['status'];
      readonly reason: Reason;
      readonly payload: {
        /** A sentence of at most 300 characters. */
        readonly detail: string;
        readonly invoked: Invoked;
        /** Of a malformed reply, the status that the module gave. */
        readonly status?: number;
      };
    };

const maxDetailLength = 300;

/** @param methodStatus the module's, if its reply has one */
export function failure(reason: Reason, detail: string, methodStatus?: number): MethodResponse {
  const { status, invoked } = failures[reason];
  const shortened =
    detail.length <= maxDetailLength ? detail : `${detail.slice(0, maxDetailLength - 1).toWellFormed()}…`;
  return {
    ...{ status, reason },
    payload: { detail: shortened, invoked, ...(methodStatus !== undefined && { status: methodStatus }) },
  };
}
