import { describe, expect, it } from 'vitest';
import { readHubError } from '../../src/hub/methods/hubError.ts';
import { errorsOf, Failure, failureFromHub } from '../../src/methods/failure.ts';
import { readMethodResponse } from '../../src/methods/methodResponse.ts';
import type { Invoked, MethodFailure, Reason } from '../../src/protocol/vocabulary.ts';

// What the caller learns of each failure of the hub and of the device: whether the method has run, and when to repeat it (M7, M8).

/** The hub's response as its client passes it on, in today's form: JSON in a string in JSON. */
const answered = (statusCode: number, errorCode?: number, message = 'no', headers: Record<string, string> = {}) =>
  Object.assign(new Error('of the client'), {
    response: { statusCode, headers },
    responseBody:
      errorCode === undefined ? '' : JSON.stringify({ Message: JSON.stringify({ errorCode, message, info: {} }) }),
  });

/** All that the caller gets, except for the sentence. */
function toldOf(failure: Failure) {
  const body: { errors?: { code: string; meta: object }[] } = errorsOf(failure, 'c-1');
  const [error] = body.errors ?? [];
  return { code: error?.code, ...error?.meta, retryAfter: failure.retryAfter };
}

const told = (status: number, reason: Reason, invoked: Invoked, retryAfter?: number) => ({
  code: String(status),
  reason,
  invoked,
  retryAfter,
});

const toConnect = 'Timed out waiting for device to connect.';

describe('the hub', () => {
  it.each<
    [status: number, errorCode: number | undefined, told: readonly [number, Reason, Invoked, retryAfter?: number]]
  >([
    [400, 400004, [500, 'internal_error', 'no']],
    [400, undefined, [500, 'internal_error', 'no']],
    [401, 401002, [503, 'hub_refuses_us', 'no', 60]],
    [401, undefined, [503, 'hub_refuses_us', 'no', 60]],
    [403, undefined, [503, 'hub_refuses_us', 'no', 60]],
    [403, 403002, [429, 'throttled', 'no', 3600]],
    [403, 403012, [503, 'device_unknown', 'no']],
    [403, 403800, [429, 'throttled', 'no', 5]],
    [404, 404001, [503, 'device_unknown', 'no']],
    [404, 404010, [503, 'device_unknown', 'no']],
    [404, 404103, [503, 'device_offline', 'no']],
    [404, undefined, [504, 'outcome_unknown', 'unknown']],
    [408, undefined, [504, 'no_reply', 'unknown']],
    [413, 413001, [413, 'too_large', 'no']],
    [413, undefined, [413, 'too_large', 'no']],
    [418, undefined, [504, 'outcome_unknown', 'unknown']],
    [429, 429001, [429, 'throttled', 'no', 5]],
    [429, undefined, [429, 'throttled', 'no', 5]],
    [500, 500001, [504, 'outcome_unknown', 'unknown']],
    [500, undefined, [504, 'outcome_unknown', 'unknown']],
    [502, undefined, [502, 'bad_reply', 'unknown']],
    [503, 503001, [503, 'hub_unavailable', 'no', 5]],
    [503, undefined, [503, 'hub_unavailable', 'no', 5]],
    [504, 504101, [504, 'no_reply', 'unknown']],
    [504, undefined, [504, 'no_reply', 'unknown']],
  ])('that answers %i with the code %s', (status, errorCode, [as, reason, invoked, retryAfter]) => {
    const error = (headers = {}) => readHubError(answered(status, errorCode, toConnect, headers), true);
    expect(toldOf(failureFromHub(error()))).toEqual(told(as, reason, invoked, retryAfter));
    // Its own Retry-After replaces ours; where a repeat is of no use, or may run the method twice, there is none.
    const asked = retryAfter === undefined ? undefined : 17;
    expect(toldOf(failureFromHub(error({ 'retry-after': '17' })))).toEqual(told(as, reason, invoked, asked));
  });

  it.each<[what: string, error: Error, wasSent: boolean, Reason, Invoked, retryAfter?: number]>([
    ['does not answer what was not sent', new Error('ECONNREFUSED'), false, 'hub_unavailable', 'no', 5],
    ['does not answer what was sent', new Error('ECONNRESET'), true, 'outcome_unknown', 'unknown'],
    ['answers with no JSON', new SyntaxError('Unexpected token'), true, 'bad_reply', 'unknown'],
  ])('that %s', (_, error, wasSent, reason, invoked, retryAfter) =>
    expect(toldOf(failureFromHub(readHubError(error, wasSent)))).toMatchObject({ reason, invoked, retryAfter }),
  );
});

it.each<[MethodFailure, Reason, Invoked, retryAfter?: number]>([
  ['stopped_unsent', 'stopping', 'no', 1],
  ['stopped', 'outcome_unknown', 'unknown'],
  ['device_gone', 'outcome_unknown', 'unknown'],
])('a call that this program or the device has ended (%s) is told as %s', (failure, reason, invoked, retryAfter) =>
  expect(toldOf(failureFromHub({ failure }))).toMatchObject({ reason, invoked, retryAfter }),
);

it.each<[message: string, info: object, Reason, Invoked]>([
  [toConnect, {}, 'device_offline', 'no'],
  ['in other words', { timeout: '00:00:00' }, 'device_offline', 'no'],
  ['Device unavailable', {}, 'outcome_unknown', 'unknown'],
  ['', {}, 'outcome_unknown', 'unknown'],
])(
  '404103 says that nothing was invoked only where the hub waited for the device to connect: %j %j',
  (message, info, reason, invoked) => {
    const responseBody = JSON.stringify({ Message: JSON.stringify({ errorCode: 404103, message, info }) });
    const given = { response: { statusCode: 404, headers: {} }, responseBody };
    const error = Object.assign(new Error('of the client'), given);
    expect(toldOf(failureFromHub(readHubError(error, true)))).toMatchObject({ reason, invoked });
  },
);

describe('a device', () => {
  const known: readonly (readonly [number, Reason])[] = [
    [400, 'refused_by_device'],
    [404, 'unknown_to_device'],
    [409, 'other_object'],
    [502, 'failed_at_device'],
    [503, 'unavailable_at_device'],
    [504, 'no_reply_at_device'],
  ];
  const unknown = [0, -1, 100, 201, 204, 301, 401, 403, 405, 408, 410, 413, 415, 429, 500, 501, 505, 999];
  const all = [...known, ...unknown.map((status) => [status, 'bad_reply'] as const)];

  it.each(all)('that answers %i, with whether the method has run, is told as %s', (status, reason) => {
    const code = String(reason === 'bad_reply' ? 502 : status);
    for (const invoked of ['yes', 'no', 'unknown'] as const) {
      for (const methodStatus of [undefined, 0, 204]) {
        const payload = { detail: 'as it is', invoked, status: methodStatus };
        const failure = failureIn(() => readMethodResponse({ status, payload, text: JSON.stringify({ payload }) }));
        const has = methodStatus === undefined ? {} : { status: methodStatus };
        expect(toldOf(failure)).toEqual({ code, reason, invoked, ...has, retryAfter: undefined });
      }
    }
  });

  it.each([400, 404, 409, 502, 503, 504, 500, 410])('that answers %i, and not that it may have run it', (status) => {
    for (const invoked of [undefined, null, true, 'YES', 'perhaps', ['no']]) {
      const payload = { detail: 'as it is', invoked };
      const failure = failureIn(() => readMethodResponse({ status, payload, text: JSON.stringify({ payload }) }));
      expect(failure.invoked).toBe('unknown');
    }
  });
});

function failureIn(work: () => unknown): Failure {
  try {
    throw new Error(`not refused: ${JSON.stringify(work())}`);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}
