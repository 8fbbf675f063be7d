import { describe, expect, it } from 'vitest';
import { methodNameProblem, readInvocation } from '../../edge/src/hub/invocation.ts';
import { failure } from '../../edge/src/hub/methodResponse.ts';

// What a front door sends, and what it gets (M6, M7).

const good = {
  ...{ correlationId: 'c', objectId: '6b0e4d7c-5a33-4d8c-9a1e-2f1c0f6a7b10', model: 'm', target: '', method: 'stop' },
  timeout: 20,
};
const file = { url: 'https://a.net/a', bytes: 0, etag: '"0x1"' };
const withFile = (change: object) => ({ input: { a: 'x' }, files: { a: { ...file, ...change } } });

describe('an invocation', () => {
  it.each<[string, object]>([
    ['the longest correlation id', { correlationId: 'x'.repeat(128) }],
    ['the shortest time-out', { timeout: 5 }],
    ['the longest time-out', { timeout: 300 }],
    ['an input named __proto__', { input: JSON.parse('{"__proto__":1}') }],
    ['no inputs', { input: {} }],
    ['a member that is not known', { more: 1 }],
  ])('may have %s', (_, change) => {
    const { more: _more, ...expected } = { more: 0, ...good, ...change };
    expect(readInvocation({ ...good, ...change })).toEqual(expected);
  });

  it('has its files by their inputs, with the longest URL and etag', () => {
    const longest = { url: `https://a.net/${'x'.repeat(8178)}`, bytes: 0, etag: 'x'.repeat(256) };
    expect(longest.url).toHaveLength(8192);
    const files = { a: file, b: longest };
    expect(readInvocation({ ...good, input: { a: 'x', b: '' }, files })).toEqual({
      ...{ ...good, input: { a: 'x', b: '' } },
      files: new Map(Object.entries(files)),
    });
    expect(readInvocation({ ...good, files: {} })).toEqual({ ...good, files: new Map() });
  });

  it.each<[unknown, string]>([
    [null, 'must be a JSON object'],
    [[good], 'must be a JSON object'],
    [{ ...good, correlationId: undefined }, 'correlationId must be a string'],
    [{ ...good, correlationId: 'x'.repeat(129) }, 'correlationId must have at most 128 characters'],
    [{ ...good, objectId: 'x' }, 'objectId must be a GUID'],
    [{ ...good, objectId: 1 }, 'objectId must be a GUID'],
    [{ ...good, model: 1 }, 'model must be a string'],
    [{ ...good, target: null }, 'target must be a string'],
    [{ ...good, method: '' }, 'method must not be empty'],
    [{ ...good, timeout: 4 }, 'timeout must be at least 5'],
    [{ ...good, timeout: 301 }, 'timeout must be at most 300'],
    [{ ...good, timeout: 5.5 }, 'timeout must be whole seconds'],
    [{ ...good, timeout: '5' }, 'timeout must be whole seconds'],
    [{ ...good, method: '', timeout: 4 }, 'method must not be empty; timeout must be at least 5'],
    [{ ...good, input: null }, 'input must be an object'],
    [{ ...good, input: [] }, 'input must be an object'],
    [{ ...good, input: 'a' }, 'input must be an object'],
    [{ ...good, files: [] }, 'files must be an object'],
    [{ ...good, files: { a: file } }, 'a file has no input of the same name'],
    [{ ...good, input: { a: 1 }, files: { a: file } }, 'a file has no input of the same name'],
    [{ ...good, input: { a: 'x' }, files: { a: 1 } }, 'a file: must be an object with url, bytes and etag'],
    [{ ...good, ...withFile({ url: 1 }) }, 'a file: url must be a string'],
    [{ ...good, ...withFile({ url: 'x'.repeat(8193) }) }, 'a file: url must have at most 8192 characters'],
    [{ ...good, ...withFile({ bytes: -1 }) }, 'a file: bytes must not be negative'],
    [{ ...good, ...withFile({ bytes: 0.5 }) }, 'a file: bytes must be a whole number'],
    [{ ...good, ...withFile({ etag: '' }) }, 'a file: etag must not be empty'],
    [{ ...good, ...withFile({ etag: 'x'.repeat(257) }) }, 'a file: etag must have at most 256 characters'],
  ])('%# is refused with what is wrong with it', (payload, problem) =>
    expect(readInvocation(payload)).toEqual({ problem: `the payload is not a valid invocation: ${problem}` }),
  );
});

it.each<[string, boolean]>([
  ['stop', true],
  ['a$', true],
  ['$a', false],
  ['a/b', false],
  ['a+', false],
  ['#', false],
  ['a\u0007', false],
  ['\ufdd0', false],
  ['\ud800', false],
  ['ü'.repeat(512), true],
  [`${'ü'.repeat(512)}x`, false],
])('whether the method %j can be part of a topic: %s', (method, isPossible) => {
  const problem = /^the method name cannot be part of a topic: it must have at most 1024/;
  expect(methodNameProblem(method)).toEqual(isPossible ? undefined : expect.stringMatching(problem));
});

it.each([
  ['x'.repeat(300), 'x'.repeat(300)],
  ['x'.repeat(301), `${'x'.repeat(299)}…`],
  [`${'x'.repeat(298)}\u{1F600}yy`, `${'x'.repeat(298)}\ufffd…`],
])('the sentence of a failure has at most 300 characters: %#', (given, detail) => {
  const [unknown, known] = [failure('no_reply', given), failure('bad_reply', given, 0)];
  expect(unknown).toEqual({ status: 504, reason: 'no_reply', payload: { detail, invoked: 'unknown' } });
  expect(known).toEqual({ status: 502, reason: 'bad_reply', payload: { detail, invoked: 'yes', status: 0 } });
});
