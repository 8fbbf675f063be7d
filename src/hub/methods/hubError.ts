import type { IncomingMessage } from 'node:http';

/** Why the hub has no answer of the device for us. */
export type HubFailure =
  | 'device_offline'
  /** It was called, and went away. */
  | 'device_gone'
  | 'device_unknown'
  | 'throttled'
  | 'quota'
  | 'refused'
  | 'unavailable'
  | 'too_large'
  | 'bad_reply'
  | 'no_reply'
  | 'outcome_unknown'
  | 'invalid';

/** What the hub says when it refuses. */
export interface HubError {
  readonly failure: HubFailure;
  /** HTTP status; undefined when there was no answer. */
  readonly status?: number;
  /** The hub's own code, of six digits (HUB errors), when it gave one. */
  readonly code?: number;
  /** Its `Retry-After`, in seconds. */
  readonly retryAfter?: number;
}

const byCode: Readonly<Record<number, HubFailure>> = {
  403002: 'quota',
  403012: 'device_unknown', // disabled
  403800: 'throttled', // too many methods of this device at once
  404001: 'device_unknown', // disabled ones as well
  404010: 'device_unknown', // the module
  404103: 'device_offline', // or connected without listening
  504101: 'no_reply',
};

const byStatus: Readonly<Record<number, HubFailure>> = {
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

/** What the client adds to an error when the hub has answered. */
interface Answered {
  readonly response?: IncomingMessage;
  readonly responseBody?: string;
}

/** A device that is offline is an answer at once (M6); later, it has been called before it went away. */
const atOnceMs = 1_000;

/**
 * Reads an error of the hub's client. Its class misleads: it names every 403 TooManyDevicesError and most 404 `Not found`
 * (M8).
 * @param sentMs how long ago the request had gone out whole; undefined when it had not
 */
export function readHubError(error: Error, sentMs: number | undefined): HubError {
  const { response, responseBody = '' } = error as Answered;
  const status = response?.statusCode;
  if (status === undefined) return { failure: unanswered(error, sentMs !== undefined) };
  const code = errorCodeIn(responseBody);
  const meant = (code === undefined ? undefined : byCode[code]) ?? byStatus[status] ?? 'outcome_unknown';
  const failure = meant === 'device_offline' && (sentMs ?? 0) > atOnceMs ? 'device_gone' : meant;
  const retryAfter = Number(response?.headers['retry-after']);
  return {
    failure,
    status,
    ...(code !== undefined && { code }),
    ...(Number.isInteger(retryAfter) && retryAfter > 0 && { retryAfter }),
  };
}

/** A request that had not gone out cannot have had an effect; one that had can. */
function unanswered(error: Error, wasSent: boolean): HubFailure {
  if (error instanceof SyntaxError) return 'bad_reply'; // 200 with a body that is no JSON
  return wasSent ? 'outcome_unknown' : 'unavailable';
}

/** `{"Message":"{\"errorCode\":404103,…}"}`: JSON in a text in JSON. */
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
