import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { busObject, modules, pressObject, seriesOf, startTestProxy } from './support/testProxy.ts';

// Invocations in virtual time, beside a broker and folders that do what the test says (M10, M11, M12).

const nobody = 'ffffffff-7f2b-4f0e-8d57-3b8f2f6c9e11';
const topics = ['press/out', 'bus/out', 'camera/out'];
let edge: ReturnType<typeof startTestProxy>;
beforeEach(() => {
  vi.useFakeTimers();
  edge = startTestProxy();
});
afterEach(() => {
  edge.droppedReplies.close();
  const left = [edge.concurrency.inFlight, edge.topics.all(), vi.getTimerCount()];
  expect(left).toEqual([0, topics, 0]);
});

/** What the caller gets. */
const failed = (status: number, reason: string, detail: unknown, invoked: 'no' | 'unknown') => ({
  ...{ status, reason, payload: { detail, invoked } },
});
const ofCall = { correlationId: 'c-1', objectId: pressObject, target: '', method: 'stop', timeout: 20 };

describe('an invocation', () => {
  it('is a request to its module, whose reply is the response', async () => {
    await vi.advanceTimersByTimeAsync(500);
    const calling = edge.call({ input: { rpm: 1 } });
    const requestId = edge.published[0]?.topic.split('/').at(-1);
    expect(edge.published).toEqual([{ topic: `press/in/stop/${requestId}`, text: '{"rpm":1}' }]);
    expect(edge.concurrency.inFlight).toBe(1);
    await vi.advanceTimersByTimeAsync(1500);
    edge.reply(7, '{"a":1}');
    expect(await calling).toEqual({ status: 200, payload: { status: 7, output: { a: 1 } } });
    expect(edge.lines).toEqual([
      {
        ...{ level: 'info', time: expect.any(String), event: 'method.invoked', msg: 'method invoked' },
        ...{ ...ofCall, module: 'press', requestId, methodStatus: 7, durationMs: 1500 },
      },
    ]);
    expect(edge.counted('rpc.server.call.duration')).toEqual([['press', '200', '', 1]]);
    expect(seriesOf(edge.meter, 'rpc.server.call.duration')[0]?.sum).toBe(1.5);
  });

  it.each<[string, object, string]>([
    ['empty when the method declares no inputs', {}, ''],
    ['an empty object when no input is given', { input: {} }, '{}'],
    [
      'the inputs, one named __proto__ among them',
      JSON.parse('{"input":{"__proto__":{"a":1}}}'),
      '{"__proto__":{"a":1}}',
    ],
  ])('has a payload that is %s {S24.1}', async (_, change, text) => {
    const calling = edge.call(change);
    expect(edge.published).toMatchObject([{ text }]);
    edge.reply(0);
    await calling;
  });

  it('has a request id of its own, by which its reply is told from others {S24.2}', async () => {
    const calls = [edge.call(), edge.call()];
    const [first, second] = edge.published.map(({ topic }) => topic.split('/').at(-1));
    expect(first).not.toBe(second);
    edge.reply(2, '', { requestId: second });
    edge.reply(1, '', { requestId: first });
    expect((await Promise.all(calls)).map(({ payload }) => payload)).toEqual([{ status: 1 }, { status: 2 }]);
  });

  it.each<[string, object, number, string, string, string | undefined, string]>([
    ['is invalid', { timeout: 4 }, 400, 'invalid_invocation', 'is not a valid invocation', undefined, 'info'],
    ['has an object of no module', { objectId: nobody }, 404, 'no_module', 'no module', undefined, 'info'],
    ['has a method that is no topic', { method: 'a/b' }, 400, 'invalid_invocation', 'the method name', 'press', 'info'],
  ])('that %s is refused', async (_, change, status, reason, detail, module, level) => {
    const payload = { detail: expect.stringContaining(detail), invoked: 'no' };
    const response = await edge.call(change);
    expect(response).toEqual({ status, reason, payload });
    const { detail: details } = response.payload as { detail: string };
    const event = 'method.not_invoked';
    expect(edge.lines).toMatchObject([{ level, event, msg: 'method not invoked', status, reason, details }]);
    expect([edge.lines[0]?.['invoked'], edge.lines[0]?.['module']]).toEqual(['no', module]);
    expect(edge.counted('rpc.server.call.duration')).toEqual([[module ?? '', String(status), reason, 1]]);
    expect(edge.published).toEqual([]);
  });

  it('for another object of an identity is refused', async () => {
    const { setup } = edge.given;
    const one = setup();
    edge.given.setup = () => one;
    const calling = edge.call({ target: 'camera', objectId: nobody });
    edge.reply(0);
    expect((await calling).status).toBe(200);
    const other = edge.call({ target: 'camera', objectId: busObject.replace('0', '1') });
    expect(await other).toEqual(failed(409, 'other_object', expect.stringContaining('another object'), 'no'));
  });

  it('behind a gateway may have any method, which is in the payload, and no input when it declares none {S24.4}', async () => {
    const both = [edge.call({ objectId: busObject, method: 'a/b' })];
    edge.reply(1);
    both.push(edge.call({ objectId: busObject, method: 'a/b', input: { c: 2 } }));
    edge.reply(1);
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    const topic = expect.stringMatching(/^bus\/in\/\$proxy\/[0-9a-f-]{36}$/);
    expect(edge.published).toEqual([
      { topic, text: `{"objectId":"${busObject}","method":"a/b"}` },
      { topic, text: `{"objectId":"${busObject}","method":"a/b","input":{"c":2}}` },
    ]);
  });

  it('beyond a limit is refused until another one has ended', async () => {
    edge.given.limits.inFlightPerModule = 2;
    edge.given.limits.inFlight = 3;
    const first = edge.call();
    const [second, third] = [edge.call({ objectId: busObject }), edge.call({ objectId: busObject })];
    const detail = 'too many invocations are in progress, in total or for this module';
    const overloaded = { status: 503, reason: 'overloaded', payload: { detail, invoked: 'no' } };
    expect(await edge.call()).toMatchObject(overloaded); // three in all
    edge.reply(0);
    await third;
    const fourth = edge.call();
    edge.reply(0);
    await fourth;
    const fifth = edge.call();
    edge.given.limits.inFlight = 4;
    expect(await edge.call()).toMatchObject(overloaded); // two of the module
    edge.reply(0);
    await fifth;
    await vi.advanceTimersByTimeAsync(19_000);
    await Promise.all([first, second]);
    expect(edge.lines.filter(({ reason }) => reason === 'overloaded')).toHaveLength(2);
  });

  it('that ends as the last one is waited for', async () => {
    for (let time = 0; time < 2; time += 1) {
      const isIdle = vi.fn();
      const ends = [edge.concurrency.acquire('press'), edge.concurrency.acquire('bus')];
      const waiting = [edge.concurrency.idle().then(isIdle), edge.concurrency.idle()];
      ends[0]?.();
      await vi.advanceTimersByTimeAsync(0);
      expect(isIdle).not.toHaveBeenCalled();
      ends[1]?.();
      await Promise.all([...waiting, edge.concurrency.idle()]);
    }
  });

  it.each<[string, Partial<typeof edge.given>]>([
    ['is not connected', { isConnected: false }],
    ['does not let the proxy receive replies', { unsubscribed: 'press/out' }],
    ['does not read', { isFull: true }],
  ])('is not delivered when the broker %s, and no reply to it is taken', async (_, state) => {
    Object.assign(edge.given, state);
    const detail = expect.stringContaining('the broker is not connected');
    expect(await edge.call()).toEqual(failed(503, 'broker_unavailable', detail, 'no'));
    const line = { level: 'warn', event: 'method.failed', msg: 'method not invoked, or its outcome is unknown' };
    expect(edge.lines).toMatchObject([line]);
    expect(edge.published).toEqual([]);
    edge.reply(0, '', { topic: 'press/out', requestId: edge.lines[0]?.['requestId'] });
    expect(edge.counted('device_messaging.edge.replies.dropped')).toEqual([['press', 'unknown', 1]]);
  });

  it('keeps the topic of its reply when the configuration has it no more', async () => {
    const calling = edge.call();
    edge.topics.use([]);
    edge.reply(3);
    expect([(await calling).payload, edge.changes]).toEqual([{ status: 3 }, [['press/out'], []]]);
    edge.topics.use(modules);
  });

  it('ends a second before the time-out of the hub, and later replies are dropped {S24.2}', async () => {
    const settled = vi.fn();
    const calling = edge.call({ timeout: 5 }).finally(settled);
    await vi.advanceTimersByTimeAsync(3_999);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await calling).toEqual(failed(504, 'no_reply', 'the module did not reply in time', 'unknown'));
    edge.reply(0);
    expect(edge.counted('device_messaging.edge.replies.dropped')).toEqual([['press', 'unknown', 1]]);
  });

  it('ends when the proxy is aborted, and is refused when it stops', async () => {
    const calling = edge.call();
    edge.proxy.stop();
    expect(await edge.call()).toEqual(failed(503, 'stopping', 'the edge proxy is stopping', 'no'));
    expect(edge.lines[0]).toMatchObject(ofCall);
    edge.proxy.abort();
    const detail = 'the edge proxy stopped before the module replied';
    expect(await calling).toEqual(failed(504, 'aborted', detail, 'unknown'));
  });

  it('that fails for a reason that is not foreseen has an outcome that is unknown', async () => {
    edge.given.setup = () => {
      throw new Error('no setup');
    };
    expect(await edge.call()).toEqual(failed(502, 'internal_error', 'the edge proxy failed', 'unknown'));
    const unforeseen = { level: 'error', event: 'method.failed_unforeseen', ...ofCall, err: { message: 'no setup' } };
    expect(edge.lines).toMatchObject([unforeseen, { event: 'method.failed' }]);
  });

  it('has no text over 256 characters in the log', async () => {
    await edge.call({ objectId: nobody, target: 'x'.repeat(257), correlationId: 'y'.repeat(128) });
    expect(edge.lines).toMatchObject([{ target: 'x'.repeat(256), correlationId: 'y'.repeat(128), timeout: 20 }]);
  });
});

describe('a reply', () => {
  it('that is malformed has the status of the module in the log', async () => {
    const calling = edge.call();
    edge.reply(7, '[]');
    expect(await calling).toMatchObject({ status: 502, reason: 'bad_reply', payload: { invoked: 'yes', status: 7 } });
    expect(edge.lines).toMatchObject([{ level: 'warn', status: 502, invoked: 'yes', methodStatus: 7 }]);
    const next = edge.call();
    edge.reply('x');
    await next;
    expect(edge.lines[1]).not.toHaveProperty('methodStatus');
  });

  it('is dropped when it is retained, repeated, or on the topic of another module', async () => {
    const calling = edge.call();
    edge.reply(0, '', { isRetained: true });
    edge.reply(0, '', { topic: 'bus/out' });
    edge.reply(0, '', { topic: 'gone/out' });
    edge.reply(1);
    edge.reply(2);
    expect((await calling).payload).toEqual({ status: 1 });
    const dropped = edge.counted('device_messaging.edge.replies.dropped').map((one) => one.join(' '));
    expect(dropped).toEqual(['press retained 1', 'bus unknown 1', ' unknown 1', 'press unknown 1']);
  });

  it('that is dropped is logged at once, and further ones once a minute with their count', async () => {
    const [unknown, retained] = ['module.replies_unknown', 'module.replies_retained'];
    const drop = (isRetained: boolean) => edge.reply(0, '', { topic: 'press/out', requestId: 'x', isRetained });
    const logged = () => edge.lines.map(({ event, module, count }) => `${event} ${module} ${count}`);
    for (let index = 0; index < 3; index += 1) drop(false);
    drop(true);
    expect(logged()).toEqual([`${unknown} press 1`, `${retained} press 1`]);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(edge.lines).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(logged().slice(2)).toEqual([`${unknown} press 2`]);
    drop(false);
    expect(logged().slice(3)).toEqual([`${unknown} press 1`]);
    edge.droppedReplies.close();
    await vi.advanceTimersByTimeAsync(60_000);
    drop(false);
    expect(logged().slice(4)).toEqual([`${unknown} press 1`]);
  });
});

describe('an invocation with files', () => {
  const file = { url: 'https://a.net/a', bytes: 3, etag: '"0x1"' };
  const withFiles = { input: { a: 'a', b: 'b', c: 1 }, files: { a: file, b: { ...file, bytes: 4 } } };
  const keep = vi.fn();
  const discard = vi.fn(async () => {});
  beforeEach(() => {
    keep.mockClear();
    discard.mockClear();
    const files = { names: { a: 'name-a', b: 'name-b' }, keep, discard };
    edge.given.download = async () => ({ kind: 'files', files });
  });

  it('is delivered with the names of its files, which are left to the module {S24.5}', async () => {
    const calling = edge.call(withFiles);
    await vi.advanceTimersByTimeAsync(0);
    expect(edge.published).toMatchObject([{ text: '{"a":"name-a","b":"name-b","c":1}' }]);
    expect(edge.downloading).toEqual([['press', new Map(Object.entries(withFiles.files)), expect.any(AbortSignal)]]);
    edge.reply(0);
    await calling;
    expect([keep.mock.calls.length, discard.mock.calls.length]).toEqual([1, 0]);
    expect(edge.lines).toMatchObject([{ files: 2, fileBytes: 7 }]);
  });

  it('may have none', async () => {
    const calling = edge.call({ ...withFiles, files: {} });
    edge.reply(0);
    await calling;
    expect(edge.published).toMatchObject([{ text: '{"a":"a","b":"b","c":1}' }]);
    expect([edge.downloading, edge.lines[0]?.['files']]).toEqual([[], undefined]);
  });

  it.each([
    ['failed', 502, 'file_not_downloaded', undefined],
    ['unavailable', 503, 'folder_unavailable', 'ENOSPC'],
    ['refused', 400, 'takes_no_files', undefined],
  ] as const)('is not delivered when its files are %s', async (kind, status, reason, cause) => {
    edge.given.download = async () => ({ kind, detail: 'no files', ...(cause && { cause }) });
    expect(await edge.call(withFiles)).toEqual({ status, reason, payload: { detail: 'no files', invoked: 'no' } });
    expect(edge.published).toEqual([]);
    expect([edge.lines[0]?.['cause'], edge.lines[0] && 'cause' in edge.lines[0]]).toEqual([cause, cause !== undefined]);
  });

  it.each<[string, () => unknown, string, string]>([
    ['the broker is gone', () => Object.assign(edge.given, { isConnected: false }), 'broker_unavailable', 'the broker'],
    ['the time-out is over', () => vi.advanceTimersByTime(19_000), 'too_late', 'the time-out expired before'],
    ['the proxy is aborted', () => edge.proxy.abort(), 'stopping', 'stopped before it delivered'],
  ])('is not delivered, and its files are removed, when %s after the download', async (_, happen, reason, detail) => {
    const { download } = edge.given;
    edge.given.download = (...asked) => {
      happen();
      return download(...asked);
    };
    const expected = { status: 503, reason, payload: { detail: expect.stringContaining(detail), invoked: 'no' } };
    expect(await edge.call(withFiles)).toEqual(expected);
    expect([edge.published, keep.mock.calls.length, discard.mock.calls.length]).toEqual([[], 0, 1]);
  });

  it('is not delivered when the proxy is aborted during the download', async () => {
    edge.given.download = (_id, _files, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'failed', detail: 'aborted' })));
    const calling = edge.call(withFiles);
    edge.proxy.abort();
    expect(await calling).toMatchObject({ status: 503, reason: 'stopping' });
    expect(edge.published).toEqual([]);
  });

  it('does not ask for its files while the broker is not connected', async () => {
    edge.given.isConnected = false;
    await edge.call(withFiles);
    expect(edge.downloading).toEqual([]);
  });
});
