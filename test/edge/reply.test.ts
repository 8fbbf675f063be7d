import { describe, expect, it } from 'vitest';
import { responseTo } from '../../edge/src/modules/messages.ts';

// What becomes of the reply of a module (M7, M11).

const responding = (status: string, payload: string | Buffer) => responseTo({ status, payload: Buffer.from(payload) });
const noObject = 'its payload is neither empty nor a JSON object';
const noInteger = 'its status is not an integer within ±(2^53−1)';
const tooDeep = 'its payload is nested more than 63 levels deep';
const tooLarge = 'with its status it has more than 131072 bytes';

describe('a reply', () => {
  it.each<[string, string | Buffer, object]>([
    ['0', '', { status: 0 }],
    ['-3', '', { status: -3 }],
    ['9007199254740991', '', { status: Number.MAX_SAFE_INTEGER }],
    ['-9007199254740991', '{}', { status: Number.MIN_SAFE_INTEGER, output: {} }],
    ['7', ' {"a":[1.50, "é"]}\n', { status: 7, output: { a: [1.5, 'é'] } }],
    ['7', `${'{"a":'.repeat(63)}1${'}'.repeat(63)}`, { status: 7 }],
  ])('with the status %s is the response', (status, payload, expected) => {
    expect(responding(status, payload)).toMatchObject({ status: 200, payload: expected });
    if (payload.length === 0) expect(responding(status, payload).payload).toEqual(expected);
  });

  it.each<[string, string, string | Buffer, string]>([
    ['with the status OK {S24.2}', 'OK', '', noInteger],
    ['with a status with a fraction', '1.5', '', noInteger],
    ['with a status that is empty', '', '', noInteger],
    ['with a status beyond 2^53', '9007199254740993', '', noInteger],
    ['with a status in hexadecimal', '0x1F', '', noInteger],
    ['with plain text', '7', 'done', noObject],
    ['with an array {S24.2}', '7', '[1]', noObject],
    ['with null', '7', 'null', noObject],
    ['with a JSON string', '7', '"a"', noObject],
    ['with a space', '7', ' ', noObject],
    ['with invalid UTF-8', '7', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), noObject],
    ['with a byte order mark', '7', '\ufeff{}', noObject],
    ['nested too deep', '7', `{"a":${'['.repeat(80)}${']'.repeat(80)}}`, tooDeep],
    ['nested extremely deep', '7', `{"a":${'['.repeat(60_000)}${']'.repeat(60_000)}}`, tooDeep],
    ['with a repeated key', '7', '{"a":{"b":1,"\\u0062":2}}', 'part of its payload occurs twice'],
    ['of a megabyte', '7', JSON.stringify({ a: 'x'.repeat(1_048_576) }), tooLarge],
    ['with a leading zero', '07', '', noInteger],
    ['with a status of -0', '-0', '', noInteger],
    ['with a status with more digits', '10000000000000000', '', noInteger],
    ['with a line after the status', '7\n', '', noInteger],
    ['with a text before the status', 'a7', '', noInteger],
    ['one level too deep', '7', `${'{"a":'.repeat(64)}1${'}'.repeat(64)}`, tooDeep],
    ['that is longer as the hub carries it', '7', `{"a":[${'1e5,'.repeat(30_000)}1]}`, tooLarge],
    ['that is longer than the hub allows', '7', `{}${' '.repeat(131_071)}`, tooLarge],
  ])('%s is a bad reply', (_, status, payload, problem) =>
    expect(responding(status, payload)).toEqual({
      ...{ status: 502, reason: 'bad_reply' },
      payload: {
        ...{ detail: `the module sent a malformed reply: ${problem}`, invoked: 'yes' },
        ...(status === '7' && { status: 7 }),
      },
    }),
  );

  it('may have as many bytes as the hub allows with its status, and not one more', () => {
    const room = 131_072 - JSON.stringify({ status: 0, output: { a: '' } }).length;
    expect(responding('0', JSON.stringify({ a: 'x'.repeat(room) })).status).toBe(200);
    expect(responding('0', JSON.stringify({ a: 'x'.repeat(room + 1) }))).toMatchObject({ payload: { status: 0 } });
    expect(responding('0', JSON.stringify({ a: 'é'.repeat(room / 2 + 1) })).status).toBe(502);
    expect(responding('0', `{}${' '.repeat(131_070)}`)).toMatchObject({ status: 200, payload: { output: {} } });
  });
});
