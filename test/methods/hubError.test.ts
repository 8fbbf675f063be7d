import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { readHubError } from '../../src/hub/methods/hubError.ts';
import type { MethodFailure } from '../../src/protocol/vocabulary.ts';

const answered = (statusCode: number, responseBody: string, headers: Record<string, string> = {}) =>
  Object.assign(new Error('Not found'), {
    response: { statusCode, headers } as unknown as IncomingMessage,
    responseBody,
  });

/** Today's format of the hub: JSON in a string in JSON. */
const nested = (errorCode: unknown) =>
  JSON.stringify({
    Message: JSON.stringify({ errorCode, trackingId: 'x', message: 'y', info: {} }),
    ExceptionMessage: '',
  });

describe('an error of the hub', () => {
  it.each<[number, number, MethodFailure]>([
    [404, 404103, 'device_gone'],
    [404, 404001, 'device_unknown'],
    [404, 404010, 'device_unknown'],
    [403, 403012, 'device_unknown'],
    [403, 403800, 'throttled'],
    [403, 403002, 'quota'],
    [403, 403001, 'refused'],
    [429, 429001, 'throttled'],
    [504, 504101, 'no_reply'],
  ])('%i with code %i is %s', (status, code, failure) =>
    expect(readHubError(answered(status, nested(code)), true)).toEqual({ failure, status, code }),
  );

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

  it('with an unknown status leaves the outcome unknown', () =>
    expect(readHubError(answered(418, ''), true)).toEqual({ failure: 'outcome_unknown', status: 418 }));
});

describe('no response of the hub', () => {
  it('to a request that was not sent means that nothing was invoked', () =>
    expect(readHubError(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), false)).toEqual({
      failure: 'unavailable',
      ...{ cause: 'ECONNREFUSED', said: 'connect (ECONNREFUSED)' },
    }));
  it('to a request that was sent leaves the outcome unknown', () =>
    expect(readHubError(new Error('socket hang up'), true)).toMatchObject({ failure: 'outcome_unknown' }));
  it('in JSON is a bad reply', () =>
    expect(readHubError(new SyntaxError('Unexpected token'), true)).toMatchObject({ failure: 'bad_reply' }));
});
