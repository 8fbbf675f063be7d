import { saidOf } from '../../observing/diagnosis.ts';
import { jsonValue } from '../../protocol/json.ts';
import type { MethodFailure } from '../../protocol/vocabulary.ts';

export interface HttpsResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body: the client returns only the values that it has parsed. */
  readonly text: string;
}

export interface HubError {
  readonly failure: MethodFailure;
  /** HTTP status; undefined when there was no response. */
  readonly status?: number;
  /** Six-digit error code of the hub. */
  readonly code?: number;
  /** `Retry-After`, in seconds. */
  readonly retryAfter?: number;
  /** Of a refusal: the header of that name. */
  readonly date?: string;
  /** Without a response: the error's code, and what it says. */
  readonly cause?: string;
  readonly said?: string;
}

/** Facts methods.offline, methods.unknown, methods.silent and methods.at-once. */
const byCode: Readonly<Record<number, MethodFailure>> = {
  403002: 'quota',
  403012: 'device_unknown', // disabled
  403800: 'throttled', // too many methods of this device at once
  404001: 'device_unknown', // or disabled
  404010: 'device_unknown', // the module
  404103: 'device_gone', // unless it never had the call
  504101: 'no_reply',
};

/** Facts methods.payload and methods.codes: where a code is missing, or another one, its status tells enough. */
const byStatus: Readonly<Record<number, MethodFailure>> = {
  400: 'invalid',
  401: 'refused',
  403: 'refused',
  404: 'device_gone',
  408: 'no_reply',
  413: 'too_large',
  429: 'throttled',
  500: 'outcome_unknown',
  502: 'bad_reply',
  503: 'unavailable',
  504: 'no_reply',
};

/** Reads an error of the hub's client, whose class is misleading: every 403 is a TooManyDevicesError (M8). @param wasSent the request, as a whole */
export function readHubError(error: Error, wasSent: boolean): HubError {
  // The client adds these when the hub has responded.
  const { response, responseBody } = error as { readonly response?: HttpsResponse; readonly responseBody?: string };
  if (response === undefined) {
    const { code: cause } = error as NodeJS.ErrnoException;
    const isUnreadable = error instanceof SyntaxError; // 200 with a body that is not JSON
    const failure = isUnreadable ? 'bad_reply' : wasSent ? 'outcome_unknown' : 'unavailable';
    return { failure, ...(cause !== undefined && { cause }), said: saidOf(error) };
  }
  const { statusCode: status, headers } = response;
  const { code, hasWaited } = refusalIn(responseBody);
  const known = byCode[code ?? 0] ?? byStatus[status] ?? 'outcome_unknown';
  const failure = known === 'device_gone' && hasWaited ? 'device_offline' : known;
  const retryAfter = Number(headers['retry-after']);
  const { date } = headers;
  return {
    failure,
    status,
    ...(code !== undefined && { code }),
    ...(Number.isInteger(retryAfter) && retryAfter > 0 && { retryAfter }),
    ...(failure === 'refused' && typeof date === 'string' && { date }),
  };
}

// `{"Message":"{\"errorCode\":404103,\"message\":…,\"info\":{…}}"}` (fact methods.error-form). `hasWaited`: for the device; else it may have had it (M7).
function refusalIn(body: unknown) {
  const { errorCode: code, info, message } = membersIn(membersIn(body)['Message']);
  const isLimited = Object.hasOwn(Object(info), 'timeout');
  return {
    code: Number.isSafeInteger(code) ? Number(code) : undefined,
    hasWaited: code === 404103 && (isLimited || /^Timed out waiting for device to connect\b/.test(String(message))),
  };
}

const membersIn = (text: unknown): Readonly<Record<string, unknown>> => Object(jsonValue(String(text)));
