import { describe, expect, it } from 'vitest';
import { readHubError } from '../../src/hub/methods/hubError.ts';
import { failureFromHub } from '../../src/methods/failure.ts';
import type { Invoked, MethodFailure, Reason } from '../../src/protocol/vocabulary.ts';

// What the caller learns of each failure of the hub: whether the method has run, and when to repeat it (M7, M8).

/** The hub's response as its client passes it on. */
const answered = (statusCode: number, responseBody: string, headers: Record<string, string> = {}) =>
  Object.assign(new Error('of the client'), { response: { statusCode, headers }, responseBody });

/** Today's form of a body: JSON in a string in JSON. */
const nested = (errorCode: unknown, message = 'y', info = {}) =>
  JSON.stringify({ Message: JSON.stringify({ errorCode, trackingId: 'x', message, info }), ExceptionMessage: '' });

function toldOf(error: Error, wasSent = true) {
  const { status, reason, invoked, retryAfter } = failureFromHub(readHubError(error, wasSent));
  return { status, reason, invoked, retryAfter };
}

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
  ])('that answers %i with the code %s', (status, code, [as, reason, invoked, retryAfter]) => {
    const body = code === undefined ? '' : nested(code, toConnect);
    expect(readHubError(answered(status, body), true)).toMatchObject({ status, ...(code !== undefined && { code }) });
    expect(toldOf(answered(status, body))).toEqual({ status: as, reason, invoked, retryAfter });
    // Its own Retry-After replaces ours; where a repeat is of no use, or may run the method twice, there is none.
    const asked = retryAfter === undefined ? undefined : 17;
    expect(toldOf(answered(status, body, { 'retry-after': '17' })).retryAfter).toBe(asked);
  });

  it.each<[what: string, error: Error, wasSent: boolean, Reason, Invoked, retryAfter?: number]>([
    ['does not answer what was not sent', new Error('connect'), false, 'hub_unavailable', 'no', 5],
    ['does not answer what was sent', new Error('socket hang up'), true, 'outcome_unknown', 'unknown'],
    ['answers with no JSON', new SyntaxError('Unexpected token'), true, 'bad_reply', 'unknown'],
  ])('that %s', (_, error, wasSent, reason, invoked, retryAfter) => {
    expect(toldOf(error, wasSent)).toMatchObject({ reason, invoked, retryAfter });
    const { cause, said } = readHubError(Object.assign(error, { code: 'ECONNREFUSED' }), wasSent);
    expect([cause, said]).toEqual(['ECONNREFUSED', `${error.message} (ECONNREFUSED)`]);
  });
});

it.each<[message: string, info: object, MethodFailure]>([
  [toConnect, {}, 'device_offline'],
  ['in other words', { timeout: '00:00:00' }, 'device_offline'],
  ['Device unavailable', {}, 'device_gone'],
  ['', {}, 'device_gone'],
])('404103 says that nothing was invoked only where the hub waited for the device to connect: %j %j', (...row) => {
  const [message, info, failure] = row;
  const error = answered(404, nested(404103, message, info));
  expect(readHubError(error, true)).toEqual({ failure, status: 404, code: 404103 });
  expect(toldOf(error).invoked).toBe(failure === 'device_offline' ? 'no' : 'unknown');
});

describe('an error of the hub', () => {
  it.each<[string, string]>([
    ['no body', ''],
    ['no JSON', '<html>'],
    ['the former format', '{"Message":"ErrorCode:DeviceNotOnline;Not online","ExceptionMessage":"x"}'],
    ['a code that is not a number', nested('404001')],
    ['other JSON', '[]'],
    ['a message that is not a string', '{"Message":{"errorCode":404001}}'],
  ])('with %s is classified by its status', (_, body) => {
    expect(readHubError(answered(404, body), true)).toEqual({ failure: 'device_gone', status: 404 });
    expect(readHubError(answered(401, body), true)).toEqual({ failure: 'refused', status: 401 });
  });

  it('has the Retry-After of the response if it is in seconds', () => {
    expect(readHubError(answered(429, '', { 'retry-after': '7' }), true)).toMatchObject({ retryAfter: 7 });
    for (const text of ['soon', '0', '-1', '1.5'])
      expect(readHubError(answered(429, '', { 'retry-after': text }), true)).not.toHaveProperty('retryAfter');
  });
});
