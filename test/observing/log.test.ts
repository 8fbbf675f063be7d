import { AxiosError, AxiosHeaders } from 'axios';
import { describe, expect, it } from 'vitest';
import { createLog as createEdgeLog } from '../../edge/src/observing/log.ts';
import { createLog, withFields } from '../../src/observing/log.ts';

/** The key of no account, in the forms in which errors have it. */
const key = 'Y2FuYXJ5IG9mIHRoZSB0ZXN0cw==';
const signature = 'c2lnbmF0dXJlIG9mIHRoZSB0ZXN0cw';

it('each line has its event and the instance', () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) }, { instance: 'host-1' });
  log.info({ partition: '3', unfinished: 2 }, 'partition released');
  log.info({ device: 'd1' }, 'handled');
  const common = { level: 'info', time: expect.any(String), instance: 'host-1' };
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { ...common, event: 'partition.released', partition: '3', unfinished: 2, msg: 'partition released' },
    { ...common, device: 'd1', msg: 'handled' },
  ]);
});

it('each line of a log with fields of its own has them, and those of the line instead of them', () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const view = withFields(log, { part: 'backends', number: 1 });
  view.info({ number: 2 }, 'partition released');
  view.warn({}, 'the hub cannot be read');
  view.error({}, 'event passed over');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'info', part: 'backends', number: 2, msg: 'partition released' },
    { level: 'warn', part: 'backends', number: 1, msg: 'the hub cannot be read' },
    { level: 'error', part: 'backends', number: 1, msg: 'event passed over' },
  ]);
});

type ErrorLog = { error(fields: object, message: 'unforeseen failure'): void };

const kinds: [string, (write: (line: string) => void) => ErrorLog][] = [
  ['service', (write) => createLog('info', { write }, { secrets: [key] })],
  ['edge proxy', (write) => createEdgeLog('info', { write }, { secrets: [key] })],
];

describe.each(kinds)('an error in the log of the %s', (_, create) => {
  function lineOf(err: unknown): unknown {
    const lines: string[] = [];
    create((line) => void lines.push(line)).error({ err }, 'unforeseen failure');
    return JSON.parse(lines.join('')).err;
  }

  it('has only its explanation, not the request that it carries', () => {
    const config = { headers: new AxiosHeaders({ authorization: 'Bearer s3cret' }), data: 's3cret' };
    const cause = new AxiosError('connect failed', 'ECONNREFUSED', config);
    const line = lineOf(new Error('no answer', { cause }));
    expect(JSON.stringify(line)).not.toContain('s3cret');
    expect(line).toMatchObject({
      ...{ type: 'Error', message: 'no answer', stack: expect.stringContaining('log.test.ts') },
      cause: { code: 'ECONNREFUSED', message: 'connect failed' },
    });
  });

  it('has the codes and messages of its inner errors', () => {
    const refused = (port: number) => Object.assign(new Error(`connect ::1:${port}`), { code: 'ECONNREFUSED' });
    const inner = new AggregateError([refused(3)], 'inner');
    expect(lineOf(new AggregateError([refused(1), refused(2), inner, 'text'], ''))).toMatchObject({
      type: 'AggregateError',
      errors: [
        { message: 'connect ::1:1', code: 'ECONNREFUSED' },
        { message: 'connect ::1:2', code: 'ECONNREFUSED' },
        { message: 'inner', errors: [{ message: 'connect ::1:3', code: 'ECONNREFUSED' }] },
        { message: 'text' },
      ],
    });
  });

  it('has the ids that Azure’s support asks for', () => {
    const response = { headers: new Map([['x-ms-request-id', '9f2c1a4e-601e-0044-1c2d-3b4a5f000000']]) };
    const refusal = Object.assign(new Error('denied'), { code: 'AuthorizationFailure', statusCode: 403, response });
    expect(lineOf(refusal)).toMatchObject({
      ...{ message: 'denied', code: 'AuthorizationFailure', statusCode: 403 },
      requestId: '9f2c1a4e-601e-0044-1c2d-3b4a5f000000',
    });
    const amqpError = { condition: 'amqp:link:detach-forced', description: 'x' };
    expect(lineOf(Object.assign(new Error('Server Busy'), { amqpError }))).toMatchObject({
      condition: 'amqp:link:detach-forced',
    });
  });

  it('has no code, status, condition or id in a form that no client gives them', () => {
    const response = { headers: { get: () => 'an id with spaces' } };
    const odd = { code: 'two words', statusCode: '403', amqpError: { condition: 'x'.repeat(65) }, response };
    const plain = { type: 'Error', message: 'denied', stack: expect.any(String) };
    expect(lineOf(Object.assign(new Error('denied'), odd))).toEqual(plain);
    expect(lineOf(Object.assign(new Error('denied'), { response: { headers: { get: 'none' } } }))).toEqual(plain);
    const longest = { code: 'x'.repeat(64) };
    expect(lineOf(Object.assign(new Error('denied'), longest))).toEqual({ ...plain, ...longest });
    expect(lineOf(Object.assign(new Error('denied'), { code: 5 }))).toEqual({ ...plain, code: 5 });
    const expected = { ...plain, stack: '' };
    expect(lineOf(Object.assign(new Error('denied'), { code: true, stack: undefined }))).toEqual(expected);
  });

  it('has four causes at most, the text of each without its stack', () => {
    const chain = (left: number): Error => new Error(String(left), left > 0 ? { cause: chain(left - 1) } : {});
    const cause = (message: string, more = {}) => ({ type: 'Error', message, ...more });
    const expected = cause('8', { cause: cause('7', { cause: cause('6', { cause: cause('5') }) }) });
    expect(lineOf(chain(9))).toEqual(cause('9', { stack: expect.any(String), cause: expected }));
  });

  it('has inner errors of inner errors four deep', () => {
    const nest = (left: number): Error => new AggregateError(left > 0 ? [nest(left - 1)] : [], String(left));
    const level = (message: string, ...errors: readonly object[]) => ({ type: 'AggregateError', message, errors });
    const { errors: _, ...deepest } = level('5');
    const expected = level('8', level('7', level('6', deepest)));
    expect(lineOf(nest(9))).toEqual({ ...level('9', expected), stack: expect.any(String) });
  });

  it('has ten inner errors at most, and is cut at 2,000 characters of text and 4,000 of stack', () => {
    const many = Array.from({ length: 11 }, (__, index) => new Error(`${index} ${'x'.repeat(3_000)}`));
    const line = Object(lineOf(new AggregateError(many, 'y'.repeat(5_000))));
    expect([line.message.length, line.stack.length]).toEqual([2_000, 4_000]);
    expect(line.errors.map(({ message }: Error) => message.slice(0, 2))).toEqual(
      many.slice(0, 10).map(({ message }) => message.slice(0, 2)),
    );
    expect(line.errors[0].message).toHaveLength(2_000);
  });

  it('is written even if the thrown value is not an Error', () =>
    expect(lineOf('just text')).toMatchObject({ message: 'just text' }));

  it.each([
    ['a known secret', `the key ${key} is wrong`],
    ['a known secret, percent-encoded', `the key ${encodeURIComponent(key)} is wrong`],
    ['a connection string', `Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=${signature}=;EntityPath=e`],
    ['the connection string of an account', `AccountName=a;AccountKey=${signature};EndpointSuffix=x`],
    ['a shared access signature', `SharedAccessSignature sr=h&sig=${signature}%3D&se=17&skn=n`],
    ['an address with a signature', `GET https://a.blob.core.windows.net/c/b?sv=1&sig=${signature}%3D failed`],
    ['an address with a password', `cannot reach amqps://user:${signature}@hub.example/x`],
    ['an address with a password and no user', `cannot reach amqps://:${signature}@hub.example/x`],
    ['a bearer token', `401 for authorization: Bearer ${signature}.x_y-z`],
    ['a form', `grant_type=x&client_secret=${signature}&scope=y`],
    ['JSON', `{"access_token":"${signature}","expires_in":300}`],
    ['a text that is cut in the middle of it', `${'x'.repeat(1_990)} ${key}`],
  ])('has no part of %s, in message, stack or cause', (__, text) => {
    const errors = [
      new Error(text),
      new Error('x', { cause: new Error(text) }),
      new AggregateError([new Error(text)]),
      text,
    ];
    for (const error of errors) {
      const line = JSON.stringify(lineOf(error));
      for (const secret of [key, encodeURIComponent(key), signature]) expect(line).not.toContain(secret.slice(0, 12));
    }
  });
});
