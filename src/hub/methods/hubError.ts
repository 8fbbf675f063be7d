import type { MethodFailure } from '../../protocol/methodFailures.ts';
import type { HttpsResponse } from './httpsRequests.ts';

export interface HubError {
  readonly failure: MethodFailure;
  /** HTTP status; undefined when there was no response. */
  readonly status?: number;
  /** Six-digit error code of the hub. */
  readonly code?: number;
  /** `Retry-After`, in seconds. */
  readonly retryAfter?: number;
}

/** Facts methods.offline, methods.unknown, methods.silent and methods.at-once. */
const byCode: Readonly<Record<number, MethodFailure>> = {
  403002: 'quota',
  403012: 'device_unknown', // disabled
  403800: 'throttled', // too many methods of this device at once
  404001: 'device_unknown', // or disabled
  404010: 'device_unknown', // the module
  404103: 'device_offline', // or not listening to methods
  504101: 'no_reply',
};

/** Facts methods.payload and methods.codes: where a code is missing, or another one, its status tells enough. */
const byStatus: Readonly<Record<number, MethodFailure>> = {
  400: 'invalid',
  401: 'refused',
  403: 'refused',
  404: 'device_offline',
  408: 'no_reply',
  413: 'too_large',
  429: 'throttled',
  500: 'outcome_unknown',
  502: 'bad_reply',
  503: 'unavailable',
  504: 'no_reply',
};

/** The client adds these to an error when the hub has responded. */
interface ResponseError {
  readonly response?: HttpsResponse;
  readonly responseBody?: string;
}

/** The hub reports an offline device at once (M6); after this time the call had reached the device. */
const offlineWithinMs = 1_000;

/**
 * Reads an error of the hub's client. Its class is misleading: every 403 is a TooManyDevicesError (M8).
 * @param sentMs time since the request was sent completely; undefined when it was not
 */
export function readHubError(error: Error, sentMs: number | undefined): HubError {
  const { response, responseBody = '' } = error as ResponseError;
  const status = response?.statusCode;
  if (status === undefined) return { failure: withoutResponse(error, sentMs !== undefined) };
  const code = errorCodeIn(responseBody);
  const known = (code === undefined ? undefined : byCode[code]) ?? byStatus[status] ?? 'outcome_unknown';
  const failure = known === 'device_offline' && (sentMs ?? 0) > offlineWithinMs ? 'device_gone' : known;
  const retryAfter = Number(response?.headers['retry-after']);
  return {
    failure,
    status,
    ...(code !== undefined && { code }),
    ...(Number.isInteger(retryAfter) && retryAfter > 0 && { retryAfter }),
  };
}

function withoutResponse(error: Error, wasSent: boolean): MethodFailure {
  if (error instanceof SyntaxError) return 'bad_reply'; // 200 with a body that is not JSON
  return wasSent ? 'outcome_unknown' : 'unavailable';
}

/** `{"Message":"{\"errorCode\":404103,…}"}`: JSON in a string in JSON (fact methods.error-form). */
function errorCodeIn(body: string): number | undefined {
  const inner = member(body, 'Message');
  const code = typeof inner === 'string' ? member(inner, 'errorCode') : undefined;
  return Number.isSafeInteger(code) ? Number(code) : undefined;
}

function member(text: string, name: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
      ? Reflect.get(value, name)
      : undefined;
  } catch {
    return undefined;
  }
}
