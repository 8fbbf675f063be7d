import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Cancelled } from '../../src/backends/deadline.ts';
import { bearerToken, callerKey, callerOf, claimsOf } from '../../src/methods/caller.ts';
import { checkPath } from '../../src/methods/contract.ts';
import { errorsOf, Failure, failureFrom } from '../../src/methods/failure.ts';
import { routeOf } from '../../src/methods/requestHandler.ts';
import { checkHttp, failureOfServer, serverLog } from '../../src/methods/server.ts';
import { createLog } from '../../src/observing/log.ts';
import { MalformedJson } from '../../src/protocol/json.ts';
import { Rejection } from '../../src/protocol/rejection.ts';
import type { Reason } from '../../src/protocol/vocabulary.ts';

// The rules for one request, without a server.

/** The reason for which a check fails; undefined when it passes. */
function reasonOf(check: () => unknown): Reason | undefined {
  try {
    check();
  } catch (error) {
    if (error instanceof Failure) return error.reason;
    throw error;
  }
  return undefined;
}

describe('the path of a request', () => {
  const valid = {
    correlationId: 'c',
    objectId: '6b0e6a1c-4a59-4b3e-9d3f-0a1c3c1f2a3b',
    model: 'svc.device',
    method: 'stop',
  };

  const noMethod = /^invalid_request: .* must have 1 to 256 characters and no control characters$/;
  it.each<[refusal: RegExp | undefined, change: object]>([
    [undefined, {}],
    [undefined, { method: '𝕩'.repeat(256) }],
    [undefined, { method: 'a b' }],
    [/^invalid_request: .* must be a GUID$/, { objectId: 'motor-1' }],
    [/^invalid_request: .* must be a model identifier$/, { model: '../x' }],
    [noMethod, { method: '' }],
    [noMethod, { method: 'x'.repeat(257) }],
    [noMethod, { method: 'a\u0000' }],
    [noMethod, { method: '\u0085' }],
    [undefined, { method: 'क्\u200dष' }],
  ])('is refused with %s: %j', (refusal, change) => {
    const checked = expect(() => checkPath({ ...valid, ...change }));
    if (refusal === undefined) checked.not.toThrow();
    else checked.toThrow(refusal);
  });
});

it.each<[Reason | undefined, string, Record<string, string>]>([
  [undefined, '1.1', { host: 'x' }],
  [undefined, '1.1', { host: 'x', expect: ' 100-Continue ' }],
  [undefined, '1.0', {}],
  ['invalid_request', '0.9', { host: 'x' }],
  ['invalid_request', '1.1', {}],
  ['expectation_failed', '1.1', { host: 'x', expect: '200-ok' }],
])('the rules of HTTP give %s for HTTP/%s with %j', (reason, httpVersion, headers) =>
  expect(reasonOf(() => checkHttp({ headers, httpVersion } as IncomingMessage))).toBe(reason),
);

describe('the caller of a request', () => {
  it.each<[header: string | undefined, token: string | undefined]>([
    ['Bearer a.b-c_d~e+f/g==', 'a.b-c_d~e+f/g=='],
    ['bearer x', 'x'],
    [`Bearer ${'x'.repeat(8_192)}`, 'x'.repeat(8_192)],
    [undefined, undefined],
    ['Bearer ', undefined],
    ['Bearer a b', undefined],
    ['Bearer  a', undefined],
    ['x Bearer a', undefined],
    ['Bearer ä', undefined],
    [`Bearer ${'x'.repeat(8_193)}`, undefined],
  ])('has with the header %s the token %s', (header, token) => {
    const refusal = header === undefined ? /a bearer token is required/ : /the word Bearer, one space and a token/;
    if (token === undefined) expect(() => bearerToken(header)).toThrow(refusal);
    else expect(bearerToken(header)).toBe(token);
  });

  const token = (payload: string) => `x.${Buffer.from(payload).toString('base64url')}.y`;
  it.each<[token: string, claims: object]>([
    [token('{"sub":"u","n":1}'), { sub: 'u', n: 1 }],
    [token('["u"]'), {}],
    [token('null'), {}],
    [token('"u"'), {}],
    [token('{'), {}],
    [`x.${Buffer.from('{"sub":"u"}').toString('base64url')}`, {}],
    ['opaque', {}],
  ])('has with the token %s the claims %j', (text, claims) => expect(claimsOf(text)).toEqual(claims));

  it.each<[claims: object, caller: object]>([
    [
      { sub: 'u', azp: 'a', other: 'x' },
      { sub: 'u', azp: 'a' },
    ],
    [{ sub: '', azp: 7 }, {}],
    [{ sub: 'x'.repeat(129) }, { sub: 'x'.repeat(128) }],
    [{ sub: `${'x'.repeat(127)}😀` }, { sub: `${'x'.repeat(127)}\ufffd` }],
    [Object.create({ sub: 'inherited' }), {}],
  ])('is with the claims %j logged as %j', (claims, caller) =>
    expect([callerOf({ ...claims }), callerOf(claims as Record<string, unknown>)]).toEqual([caller, caller]),
  );

  it.each<[claims: object, key: string]>([
    [{ sub: 'u', azp: 'a' }, 'sub u'],
    [{ sub: '', azp: 'a' }, 'azp a'],
    [{ sub: 7, azp: 'a' }, 'azp a'],
    [{ azp: '' }, 'token h'],
    [{ azp: 7 }, 'token h'],
  ])('is with the claims %j told apart as %s', (claims, key) => expect(callerKey({ ...claims }, 'h')).toBe(key));
});

describe('the receiver of an invocation', () => {
  const [noOwner, invalid] = [/^no_owner: no device owns/, /^invalid_path: .* segment, or control characters; nothing/];
  it.each<[path: string | undefined, route: object]>([
    ['motor-1', { device: 'motor-1', target: '' }],
    ['gateway-1/bus/drive-1', { device: 'gateway-1', target: 'bus/drive-1' }],
    [undefined, noOwner],
    ['', noOwner],
    ...[
      ...['.', '../motor-1/x', '/motor-1', 'motor-1/', 'motor-1//x', 'motor-1/x/..', 'motor-1/x\u0000'],
      'motor-1/\ud800',
    ].map((path): [string, object] => [path, invalid]),
  ])('at the path %s is %j', (path, route) => {
    if (route instanceof RegExp) expect(() => routeOf(path)).toThrow(route);
    else expect(routeOf(path)).toEqual(route);
  });

  it('with an invalid path was not invoked', () =>
    expect(() => routeOf('..')).toThrow(expect.objectContaining({ invoked: 'no' })));
});

describe('a failure', () => {
  it('is one error with its status, title, effect, and what it knows', () => {
    expect(errorsOf(new Failure('no_reply', 'too late'), 'c-1')).toEqual({
      errors: [
        {
          ...{ code: '504', title: 'No reply in time', detail: 'too late', id: 'c-1' },
          meta: { reason: 'no_reply', invoked: 'unknown' },
        },
      ],
    });
    const options = { foreignDetail: 'jammed', methodStatus: 7, invoked: 'yes' } as const;
    expect(errorsOf(new Failure('bad_reply', 'malformed', options), 'c-1')).toMatchObject({
      errors: [{ detail: 'malformed: jammed', meta: { reason: 'bad_reply', invoked: 'yes', status: 7 } }],
    });
  });

  it('has at most a thousand characters, with what others say', () => {
    const failure = new Failure('forbidden', 'x'.repeat(2_000), { foreignDetail: 'y'.repeat(2_000) });
    const [error] = (errorsOf(failure, 'c') as { errors: { detail: string }[] }).errors;
    expect([failure.detail.length, failure.message.length, error?.detail.length]).toEqual([1_000, 1_011, 1_000]);
  });
});

describe('an error of the server', () => {
  const failureOf = (error: unknown) => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
    return { failure: failureOfServer(error) ?? failureFrom(error, 'c-1', log), lines };
  };

  it.each<[error: unknown, reason: Reason, detail: RegExp]>([
    [new Failure('forbidden', 'may not'), 'forbidden', /^may not$/],
    [new MalformedJson('is empty'), 'invalid_request', /^the body is empty$/],
    [new Cancelled('x'), 'stopping', /nothing was invoked/],
    [new Rejection('timeout_exceeded', 'x'), 'backend_unavailable', /look-up for the invocation failed/],
    [{ code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE', statusCode: 415 }, 'unsupported_media_type', /application\/json/],
    [{ code: 'FST_ERR_BAD_URL', statusCode: 400 }, 'invalid_request', /percent-encoded/],
    [{ code: 'FST_ERR_MAX_PARAM_LENGTH', statusCode: 414 }, 'invalid_request', /too long/],
    [{ statusCode: 400 }, 'invalid_request', /Content-Length/],
    [{ statusCode: 499 }, 'invalid_request', /Content-Length/],
  ])('%j is %s', (error, reason, detail) => {
    const { failure, lines } = failureOf(error);
    expect([failure.reason, lines]).toEqual([reason, []]);
    expect(failure.detail).toMatch(detail);
  });

  it.each([new TypeError('a defect'), { statusCode: 500 }, { statusCode: 399 }, { statusCode: '400' }])(
    '%j is an incident, whose number is in the log',
    (error) => {
      const { failure, lines } = failureOf(error);
      expect(lines).toMatchObject([{ level: 'error', msg: 'unforeseen failure', correlationId: 'c-1' }]);
      expect([failure.reason, failure.detail]).toEqual([
        'internal_error',
        expect.stringContaining(String(lines[0]?.['incident'])),
      ]);
    },
  );
});

it('what the library of the server reports is logged with its text and its error, and nothing below a warning', () => {
  const lines: Record<string, unknown>[] = [];
  const log = serverLog(createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) }));
  for (const level of ['trace', 'debug', 'info', 'silent'] as const) log[level]('ignored');
  log.warn('a text');
  log.error({ err: new Error('wrong'), req: { headers: { authorization: 'secret' } } }, 'of an object');
  log.child({}).fatal(new Error('fatal'));
  log.error(null, 7 as never);
  expect(lines).toMatchObject([
    { level: 'warn', msg: 'the HTTP server reports a problem', remark: 'a text' },
    { level: 'error', msg: 'the HTTP server reports a problem', remark: 'of an object', err: { message: 'wrong' } },
    { level: 'error', err: { message: 'fatal' } },
    { level: 'error', msg: 'the HTTP server reports a problem' },
  ]);
  expect(JSON.stringify(lines)).not.toContain('secret');
  for (const [index, field] of [
    [0, 'err'],
    [2, 'remark'],
    [3, 'remark'],
    [3, 'err'],
  ] as const)
    expect(lines[index]).not.toHaveProperty(field);
});
