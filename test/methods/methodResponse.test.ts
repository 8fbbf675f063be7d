import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/methods/failure.ts';
import { readMethodResponse } from '../../src/methods/methodResponse.ts';
import type { Reason } from '../../src/protocol/vocabulary.ts';

const nested = (depth: number) => `{"status":0,"output":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`;

/** Reads what the hub sends when a device has written this text. */
function read(written: string) {
  const text = `{"status":200,"payload":${written}}`;
  return readMethodResponse({ ...JSON.parse(text), text });
}

function failureIn(work: () => unknown): Failure {
  try {
    throw new Error(`not refused: ${JSON.stringify(work())}`);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}
const failureOf = (written: string) => failureIn(() => read(written));

describe('a response', () => {
  it('whose text is not what was parsed is a bad reply, not a fault of the request', () => {
    for (const text of ['', '{}', '{"payload":']) {
      const called = () => readMethodResponse({ status: 200, payload: { status: 0 }, text });
      expect(called).toThrow(
        new Failure(
          'bad_reply',
          'the response of the device is malformed: it cannot be read; the method may have run, or still be running',
        ),
      );
    }
  });

  it('nested too deep is a bad reply', () => {
    expect(failureOf(nested(127)).detail).toMatch(/nested more than 128 levels deep/);
    expect(read(nested(126))).toEqual(JSON.parse(nested(126)));
  });

  it.each(['null', '"text"', '7', '[]'])('that is %s, or has it as its output, is a bad reply {S23.7}', (written) => {
    const { reason, invoked, detail } = failureOf(written);
    expect([reason, invoked, detail]).toEqual([
      ...['bad_reply', 'unknown', expect.stringMatching(/it is not a JSON object; the method may have run/)],
    ]);
    const { detail: sentence, ...failure } = failureOf(`{"status":7,"output":${written}}`);
    expect(failure).toMatchObject({ reason: 'bad_reply', invoked: 'yes', methodStatus: 7 });
    expect(sentence).toMatch(/its output is not a JSON object; the method has run$/);
  });

  it('needs no output, and has 131,072 bytes at most', () => {
    expect(read('{"status":7}')).toStrictEqual({ status: 7 });
    expect(read('{"status":7,"output":{"a":null}}')).toStrictEqual({ status: 7, output: { a: null } });
    const sized = (bytes: number) =>
      `{"status":7,"output":{"a":"${'é'.repeat((bytes - 30) >> 1)}${'x'.repeat(bytes % 2)}"}}`;
    expect([Buffer.byteLength(sized(131_072)), read(sized(131_072)).status]).toEqual([131_072, 7]);
    const { invoked, methodStatus, detail } = failureOf(sized(131_073));
    expect([invoked, methodStatus]).toEqual(['yes', 7]);
    expect(detail).toMatch(/it has more than 131072 bytes; the method has run$/);
  });

  it.each([
    ['a repeated key', '{"status":7,"output":{"rpm":1,"rpm":1}}', 'output.rpm occurs twice'],
    ['a repeated output', '{"status":7,"output":{},"output":{}}', 'output occurs twice'],
    ['an overflow', '{"output":{"rpm":[-1e400]},"status":7}', 'output.rpm[0] is a number beyond'],
  ])('with %s in the output is a bad reply with the status of the method, which has run', (_, written, sentence) => {
    const { reason, invoked, methodStatus, detail, foreignDetail } = failureOf(written);
    expect({ reason, invoked, methodStatus }).toEqual({ reason: 'bad_reply', invoked: 'yes', methodStatus: 7 });
    expect(detail).toMatch(/cannot be carried exactly; the method has run$/);
    expect(foreignDetail).toContain(sentence);
  });

  it.each(['0.5', '1e400', '0.99999999999999999999', '9007199254740993', '7,"status":7', '"7"'])(
    'with the status %s is a bad reply without a status {S23.7}',
    (status) => {
      const { invoked, methodStatus, detail } = failureOf(`{"status":${status}}`);
      expect([invoked, methodStatus]).toEqual(['unknown', undefined]);
      expect(detail).toMatch(/no integer status; the method may have run/);
      expect(failureOf('{"output":{}}').detail).toBe(detail);
    },
  );

  it('may have other members that cannot be carried, because they are dropped', () =>
    expect(read('{"status":1,"output":{"a":1},"more":[1e400,{"b":1,"b":2}],"more":0}')).toEqual({
      status: 1,
      output: { a: 1 },
    }));

  it('may write its numbers as it likes, when they stay the same', () => {
    const numbers =
      '{"status":2.0e2,"output":{"n":[1.0,1e3,-0,1E300,0.1,5e-324,12345678901234567890.5,"\\ud83d\\ude00"]}}';
    expect(read(numbers)).toEqual(JSON.parse(numbers));
  });
});

describe('another status than 200', () => {
  const failed = (status: number, payload: unknown = {}) =>
    failureIn(() => readMethodResponse({ status, payload, text: '' }));

  it.each<readonly [status: number, reason: Reason, sentence: string]>([
    [400, 'refused_by_device', 'refuses the invocation'],
    [404, 'unknown_to_device', 'no such object or method'],
    [409, 'other_object', 'another object of that identity'],
    [502, 'failed_at_device', 'malformed reply'],
    [503, 'unavailable_at_device', 'the invocation now'],
    [504, 'no_reply_at_device', 'in time'],
    ...[0, -1, 100, 201, 204, 301, 401, 403, 405, 408, 410, 413, 415, 429, 500, 501, 505, 999].map(
      (status) => [status, 'bad_reply', `the status ${status} is not allowed`] as const,
    ),
  ])('%d of a device is %s, with whether the method has run', (status, reason, sentence) => {
    const as = { reason, status: reason === 'bad_reply' ? 502 : status, retryAfter: undefined };
    for (const payload of [{}, { invoked: 'perhaps' }, { invoked: true }, { invoked: ['no'] }, null, 'text', ['x']]) {
      const failure = failed(status, payload);
      expect(failure).toMatchObject({ ...as, invoked: 'unknown', methodStatus: undefined, foreignDetail: undefined });
      expect(failure.detail).toContain(`${sentence}; the method may have run, or still be running`);
    }
    for (const invoked of ['yes', 'no', 'unknown'] as const)
      for (const methodStatus of [undefined, 0, 204]) {
        const payload = { detail: 'as it is', invoked, status: methodStatus };
        expect(failed(status, payload)).toMatchObject({ ...as, invoked, methodStatus });
      }
    expect(failed(status, { invoked: 'yes' }).detail).toMatch(/; the method has run$/);
    expect(failed(status, { status: 1.5 }).methodStatus).toBeUndefined();
  });

  it.each([
    ['  at\u0000\n\t home ', 'at home'],
    ['see http://x.example/f?sig=1 and HTTPS://y, not xhttp://z', 'see … and … not xhttp://z'],
    ['x'.repeat(301), 'x'.repeat(300)],
    [`${'x'.repeat(299)}😀`, `${'x'.repeat(299)}\ufffd`],
    [7, undefined],
  ])('may come with the detail %j, of which the caller reads %j', (detail, read) =>
    expect(failed(503, { detail }).foreignDetail).toBe(read),
  );
});
