import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { checkBodyHeaders, isContinue, readInvocation, receiveBody } from '../../src/methods/contract.ts';
import type { Reason } from '../../src/protocol/vocabulary.ts';
import { validateValue } from '../support/contracts.ts';

// The body of a request: what its header says, how it comes, and what is in it (M3, M4, M14).

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));

const receive = (body: PassThrough, ended = new AbortController().signal) => receiveBody(body, ended);
const failure = (reason: string, detail: RegExp) =>
  expect.objectContaining({ reason, detail: expect.stringMatching(detail) });

describe('a body', () => {
  it('may come in pieces of a byte', async () => {
    const body = new PassThrough();
    const received = receive(body);
    for (const byte of Buffer.from('{"input":{}}')) body.write(Buffer.of(byte));
    body.end();
    expect((await received).toString()).toBe('{"input":{}}');
  });

  it('may be empty', async () => {
    const body = new PassThrough();
    body.end();
    expect(await receive(body)).toHaveLength(0);
  });

  it('has 262,144 bytes at most', async () => {
    const [whole, more] = [new PassThrough(), new PassThrough()];
    whole.end(Buffer.alloc(262_144));
    expect(await receive(whole)).toHaveLength(262_144);
    more.end(Buffer.alloc(262_145));
    await expect(receive(more)).rejects.toEqual(failure('too_large', /more than 262,144 bytes/));
  });

  it('has ten seconds, however steadily it comes', async () => {
    const body = new PassThrough();
    const received = receive(body);
    const refused = expect(received).rejects.toEqual(failure('request_timeout', /within 10 seconds/));
    for (let second = 0; second < 10; second += 1) {
      body.write('x');
      await vi.advanceTimersByTimeAsync(1_000);
    }
    await refused;
    expect([body.isPaused(), body.listenerCount('data')]).toEqual([true, 0]);
  });

  it.each([
    ['before it is complete', (body: PassThrough) => setImmediate(() => body.destroy())],
    ['by an error', (body: PassThrough) => setImmediate(() => body.destroy(new Error('reset')))],
    ['before it is read', (body: PassThrough) => body.destroy()],
    ['long before it is read', (body: PassThrough) => once(body.destroy(), 'close')],
  ])('ends with its caller %s', async (_, leave) => {
    const body = new PassThrough();
    await leave(body);
    await expect(receive(body)).rejects.toEqual(failure('invalid_request', /caller has disconnected/));
  });

  it('ends with the stop of the front door', async () => {
    const stop = new AbortController();
    const received = receive(new PassThrough(), stop.signal);
    const cancelled = expect(received).rejects.toMatchObject({ name: 'Cancelled' });
    stop.abort();
    await cancelled;
  });
});

describe('the headers of a body', () => {
  const json = { 'content-type': 'application/json' };

  it.each<[Reason | undefined, Record<string, string>]>([
    [undefined, json],
    [undefined, { 'content-type': 'APPLICATION/JSON ; charset=utf-8' }],
    [undefined, { ...json, 'content-encoding': 'Identity' }],
    [undefined, { ...json, 'content-length': '262144' }],
    ['unsupported_media_type', {}],
    ['unsupported_media_type', { 'content-type': 'application/jsonp' }],
    ['unsupported_media_type', { 'content-type': 'x-application/json' }],
    ['unsupported_media_type', { ...json, 'content-encoding': 'gzip' }],
    ['too_large', { ...json, 'content-length': '262145' }],
  ])('are refused as %s: %j', (reason, headers) => {
    const checked = expect(() => checkBodyHeaders(headers));
    if (reason === undefined) checked.not.toThrow();
    else checked.toThrow(expect.objectContaining({ reason }));
  });
});

it('is asked for only with the expectation of 100', () =>
  expect([undefined, '', '100-continue', ' 100-CONTINUE ', '200'].map(isContinue)).toEqual([
    ...[false, false, true, true, false],
  ]));

describe('the value of a body', () => {
  const timeoutOf = (text: string) => `{"timeout":${text}}`;

  it.each<readonly [body: string | Buffer, sentence: RegExp]>([
    ['', /^is empty/],
    ['{"input":', /not well-formed JSON/],
    [Buffer.from('{"input":{"label":"\xff"}}', 'latin1'), /not valid UTF-8/],
    ['{"timeout":5,"input":{},"timeout":6}', /^cannot be carried exactly: timeout occurs twice$/],
    ['{"input":{"label":[{"a":1,"\\u0061":1}]}}', /input\.label\[0\]\.a occurs twice$/],
    [`{"input":{"label":${'['.repeat(127)}${']'.repeat(127)}}}`, /nested more than 128/],
    ['{"timeout":5.00000000000000000001}', /: timeout must be whole seconds from 5 to 300$/],
  ])('%s is refused {S23.4}', (body, sentence) => expect(() => readInvocation(Buffer.from(body))).toThrow(sentence));

  it.each<readonly [sentence: RegExp, bodies: readonly string[]]>([
    [/: timeout must be whole seconds from 5 to 300$/, ['"5"', '4', '301', '5.5', 'null', 'true'].map(timeoutOf)],
    [/: input must be a JSON object of values by input name$/, ['{"input":"a"}', '{"input":null}', '{"input":[]}']],
    [/: the body must be a JSON object$/, ['7', 'null', '[]', '"x"']],
    [/: the body has a member other than input and timeout: "more"$/, ['{"more":1}', '{"timeout":4,"more":1}']],
    [/other than input and timeout: "__proto__"$/, ['{"__proto__":{"timeout":5}}']],
  ])('is refused as the contract says: %s', (sentence, bodies) => {
    for (const body of bodies) {
      expect(() => readInvocation(Buffer.from(body))).toThrow(sentence);
      expect(validateValue('methods', 'Invocation', JSON.parse(body))).not.toEqual([]);
    }
  });

  it.each([
    ['{}', {}],
    ['{"timeout":5.0}', { timeout: 5 }],
    [
      '{"timeout":300,"input":{"a":"1","b":null,"c":0.99999999999999999999}}',
      { timeout: 300, input: { a: '1', b: null, c: 1 }, rounded: new Set(['c']) },
    ],
  ])('%s is read as it is, and as the contract says', (body, value) => {
    expect(readInvocation(Buffer.from(body))).toEqual(value);
    expect(validateValue('methods', 'Invocation', JSON.parse(body))).toEqual([]);
  });
});
