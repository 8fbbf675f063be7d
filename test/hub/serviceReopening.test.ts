import { afterEach, describe, expect, it, vi } from 'vitest';
import { createServiceConnection } from '../../src/hub/replies/replies.ts';
import { errors } from '../../src/hub/serviceSdk.ts';
import { createTroubles } from '../../src/observing/log.ts';
import { recordingLog } from '../support/observed.ts';
import { signal } from '../support/waiting.ts';
import { replyTo, silence, untold } from './support/replying.ts';

/** Clients that do what the test says. */
function clients() {
  /** Each one: what opens it, what is called when its connection ends, what closes it, and how often it has sent and was closed. */
  const made: ReturnType<typeof newOne>[] = [];
  const newOne = () => ({ open(_error?: Error) {}, end() {}, async close() {}, sends: 0, closed: 0, transport: {} });
  /** What becomes of sends. */
  const outcomes: (Error | Promise<void> | undefined)[] = [];
  const newClient = () => {
    const one = newOne();
    made.push(one);
    const opened = new Promise<void>((resolve, reject) => (one.open = (error) => (error ? reject(error) : resolve())));
    const on = (event: string, end: () => void) => {
      if (event === 'disconnect') one.end = end;
    };
    const send = async () => {
      one.sends += 1;
      const outcome = outcomes.shift();
      if (outcome instanceof Error) throw outcome;
      await outcome;
      return { result: {} };
    };
    const close = () => {
      one.closed += 1;
      return one.close();
    };
    return { setRetryPolicy() {}, on, open: () => opened, send, close, _transport: one.transport } as never;
  };
  return { made, outcomes, newClient };
}

const minute = 60_000;
const unavailable = { kind: 'connection', reason: 'hub_unavailable' };

let close = async () => {};
afterEach(async () => {
  await close();
  close = async () => {};
});

/** A connection over such clients, in time that does not pass by itself. */
function setUp(more: Partial<Parameters<typeof createServiceConnection>[0]> = {}) {
  vi.useFakeTimers();
  const { made, outcomes, newClient } = clients();
  const log = { ...recordingLog(), debug() {} };
  const troubles = createTroubles(log);
  const common = { newClient, answerWithinMs: 1_000 * minute, log: log as never, troubles };
  const connection = createServiceConnection({ ...common, ...more });
  close = async () => {
    const closed = connection.close();
    await vi.advanceTimersByTimeAsync(10_000);
    await closed;
    troubles.close();
  };
  const opens = async (number: number, error?: Error) => {
    made[number]?.open(error);
    await vi.advanceTimersByTimeAsync(0);
  };
  const opened = (error?: Error) => {
    void connection.open();
    return opens(0, error);
  };
  return { made, outcomes, connection, opens, opened, lines: log.lines, closed: () => made.map((one) => one.closed) };
}

it('a new connection is opened even if its timer fires a little early', async () => {
  const { made, connection, opens, opened } = setUp();
  let now = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  await opened(new Error('refused'));
  now = 2_999;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(made).toHaveLength(1);
  now = 3_000;
  await vi.advanceTimersByTimeAsync(1);
  await opens(1);
  expect([made.length, connection.isOpen()]).toEqual([2, true]);
  vi.restoreAllMocks(); // a close needs the time
});

const busy = new errors.ThrottlingError('busy');
const unknown = new errors.DeviceNotFoundError('unknown');

it.each<[what: string, outcomes: (Error | undefined)[], pauseMs: number]>([
  ['2 s when it has settled no reply', [new errors.NotConnectedError('lost')], 2_000],
  ['10 s when it has only said that it is busy', [busy, busy], 10_000],
  ['10 s when it has only failed by itself', [new errors.InternalServerError('failed')], 10_000],
  ['not at all when it has taken a reply', [undefined], 0],
  ['not at all when it has taken a reply before it was busy', [undefined, busy], 0],
  ['not at all when it has taken a reply after it was busy', [busy, undefined], 0],
  ['not at all when it has refused a reply for good', [unknown], 0],
])('after a lost connection the next one waits %s, and none is opened without a request', async (...row) => {
  const [, outcomes, pauseMs] = row;
  const { made, connection, ...scripted } = setUp({ answerWithinMs: 5_000 });
  scripted.outcomes.push(...outcomes);
  for (const _ of outcomes) {
    const sent = connection.send(replyTo('a'));
    made[0]?.open();
    await sent;
  }
  made[0]?.end();
  if (pauseMs > 0) {
    await vi.advanceTimersByTimeAsync(pauseMs - 1);
    expect(await connection.send(replyTo('a'))).toEqual(unavailable);
    await vi.advanceTimersByTimeAsync(minute);
  }
  expect(made).toHaveLength(1);
  const sent = connection.send(replyTo('a'));
  made[1]?.open();
  expect([await sent, made.length]).toEqual([undefined, 2]);
});

it('no connection is opened after the close', async () => {
  const { made, connection, opened } = setUp({ answerWithinMs: 5_000, troubles: untold });
  await opened();
  await connection.send(replyTo('a'));
  made[0]?.end();
  await connection.close();
  await vi.advanceTimersByTimeAsync(minute);
  expect([made.length, vi.getTimerCount()]).toEqual([1, 0]);
});

it('the end of an outage is reported once, and not without an outage', async () => {
  const { made, connection, opens, lines, opened } = setUp({ answerWithinMs: 5_000 });
  await opened(new Error('refused'));
  await vi.advanceTimersByTimeAsync(2_000);
  made[1]?.end(); // lost before it stood
  made[1]?.open();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(lines.map(({ message }) => message)).toEqual(['cannot connect to the hub’s service endpoint; replies wait']);
  const sent = ['a', 'b'].map((device) => connection.send(replyTo(device)));
  made[2]?.open();
  expect(await Promise.all(sent)).toEqual([undefined, undefined]);
  made[2]?.end();
  await vi.advanceTimersByTimeAsync(2_000);
  await opens(3);
  const expected = ['connected to the hub’s service endpoint', 'the hub’s service endpoint is reached again'];
  expect(lines.slice(1).map(({ message }) => message)).toEqual(expected);
});

describe('a connection', () => {
  /** A send that is not settled yet. */
  const open = () => {
    const { given: settled, give: settle } = signal();
    return { settled, settle };
  };

  it('is replaced when it is 40 minutes old, and closed when its last reply is settled (trap 7)', async () => {
    const { made, outcomes, connection, opens, closed } = setUp();
    const [first, second] = [open(), open()];
    outcomes.push(undefined, first.settled, second.settled);
    const sent = connection.send(replyTo('a'));
    await opens(0);
    expect(await sent).toBeUndefined();
    await vi.advanceTimersByTimeAsync(40 * minute - 1);
    const held = [connection.send(replyTo('a')), connection.send(replyTo('b'))];
    expect(made).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    const next = connection.send(replyTo('c'));
    await opens(1);
    expect([await next, closed(), connection.isOpen()]).toEqual([undefined, [0, 0], true]);
    first.settle();
    await vi.advanceTimersByTimeAsync(0);
    expect(closed()).toEqual([0, 0]);
    second.settle();
    expect(await Promise.all(held)).toEqual([undefined, undefined]);
    expect(closed()).toEqual([1, 0]);
    made[0]?.end();
    expect([connection.isOpen(), await connection.send(replyTo('d')), made.length]).toEqual([true, undefined, 2]);
  });

  it('is replaced two minutes before its token ends, which its client has not renewed (D366)', async () => {
    const { made, connection, opens, closed, opened } = setUp();
    await opened();
    const endsAt = performance.now() + 10 * minute;
    Object.assign(made[0]?.transport ?? {}, { tokens: { endsAt } });
    await vi.advanceTimersByTimeAsync(8 * minute);
    expect([await connection.send(replyTo('a')), made.length]).toEqual([undefined, 1]);
    await vi.advanceTimersByTimeAsync(1);
    const sent = connection.send(replyTo('a'));
    await opens(1);
    expect([await sent, closed()]).toEqual([undefined, [1, 0]]);
  });

  it('tells that a reply is sent when it is, not while the reply waits for the link of the first', async () => {
    const { outcomes, connection, opens } = setUp();
    const first = open();
    outcomes.push(first.settled);
    const told: string[] = [];
    const sent = ['a', 'b'].map((device) => connection.send(replyTo(device), () => void told.push(device)));
    await opens(0);
    expect(told).toEqual(['a']);
    first.settle();
    await Promise.all(sent);
    expect(told).toEqual(['a', 'b']);
  });

  it.each([
    ['is replaced', undefined],
    ['does not wait for the end of a pause', new Error('refused')],
  ])('%s when there is another key, and is opened at once and once (D397)', async (_, refusal) => {
    const { made, connection, opens, closed, opened } = setUp();
    await opened(refusal);
    connection.renew();
    expect([connection.isOpen(), closed()]).toEqual([false, [1]]);
    await vi.advanceTimersByTimeAsync(0);
    await opens(1);
    await vi.advanceTimersByTimeAsync(minute);
    expect([made.length, connection.isOpen()]).toEqual([2, true]);
  });

  it('is not opened because of another key before it is wanted, or after the close', async () => {
    const { made, connection, opened } = setUp();
    connection.renew();
    await vi.advanceTimersByTimeAsync(minute);
    expect(made).toHaveLength(0);
    await opened();
    await connection.close();
    connection.renew();
    await vi.advanceTimersByTimeAsync(minute);
    expect([made.length, connection.isOpen()]).toEqual([1, false]);
  });

  it.each([
    ['asks for another key when the hub refuses this one', new errors.UnauthorizedError('no'), 1],
    ['asks for no other key when the hub cannot be reached', new Error('no'), 0],
  ])('%s', async (_, error, times) => {
    const refused = vi.fn();
    const { opened } = setUp({ refused });
    await opened(error);
    expect(refused).toHaveBeenCalledTimes(times);
  });

  it.each([
    [true, 'HUB_HOST_NAME'],
    [false, 'HUB_SERVICE_CONNECTION_STRING'],
    [undefined, 'HUB_SERVICE_CONNECTION_STRING'],
  ])('that fails is told with the setting to look at, every minute: by identity %s', async (isByIdentity, setting) => {
    const { lines, opened } = setUp({ isByIdentity });
    await opened(new errors.UnauthorizedError('no'));
    const told = { level: 'warn', fields: { setting, hubSaid: 'no' } };
    expect(lines).toMatchObject([told]);
    await vi.advanceTimersByTimeAsync(minute);
    expect(lines).toMatchObject([told, { level: 'warn' }]);
  });

  it.each<[after: string, idleMs: number, replies: (Error | Promise<void> | undefined)[], afterMs: number]>([
    ['less than 30 s without use is opened again after two seconds', 29_999, [undefined], 2_000],
    ['less than 30 s after a refused reply is opened again after two seconds', 29_999, [unknown], 2_000],
    ['30 s without use is opened again at once', 30_000, [undefined], 0],
    ['30 s without any reply is opened again at once', 30_000, [], 0],
    ['30 s with an open reply is opened again after two seconds', 30_000, [undefined, open().settled], 2_000],
  ])('that the hub ends after %s', async (_, idleMs, replies, afterMs) => {
    const { made, outcomes, connection, opened } = setUp();
    await opened();
    outcomes.push(...replies);
    if (replies.length > 0) await vi.advanceTimersByTimeAsync(minute);
    for (const _ of replies) void connection.send(replyTo('a'));
    await vi.advanceTimersByTimeAsync(idleMs);
    made[0]?.end();
    await vi.advanceTimersByTimeAsync(Math.max(0, afterMs - 1));
    expect(made).toHaveLength(afterMs === 0 ? 2 : 1);
    await vi.advanceTimersByTimeAsync(1);
    expect(made).toHaveLength(2);
  });

  it('is closed once, and without waiting for longer than two seconds', async () => {
    const { made, connection, closed, opened } = setUp();
    await opened();
    Object.assign(made[0] ?? {}, { close: () => new Promise(() => {}) });
    const ended = vi.fn();
    void Promise.all([connection.close(), connection.close()]).then(ended);
    await vi.advanceTimersByTimeAsync(1_999);
    expect([ended.mock.calls.length, closed(), connection.isOpen()]).toEqual([0, [1], false]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it('that has failed in the first send is not opened again by those that wait for it (SDK trap)', async () => {
    const { made, outcomes, connection, opens, closed } = setUp();
    outcomes.push(new errors.NotConnectedError('lost'));
    const sent = ['a', 'b', 'c'].map((device) => connection.send(replyTo(device)));
    await opens(0);
    expect(await Promise.all(sent)).toEqual([unavailable, unavailable, unavailable]);
    expect([made.map(({ sends }) => sends), closed()]).toEqual([[1], [1]]);
  });

  it('that cannot be opened takes no reply', async () => {
    const { made, connection, opens } = setUp();
    const sent = connection.send(replyTo('a'));
    await opens(0, new Error('no'));
    expect([await sent, made.map(({ sends }) => sends)]).toEqual([unavailable, [0]]);
  });

  it('that is replaced while it is opened is no trouble when it fails', async () => {
    const { connection, opens, lines } = setUp();
    void connection.open();
    connection.renew();
    await opens(0, new Error('no'));
    expect(lines).toEqual([]);
  });

  it('that does not close well is told in the debug log only', async () => {
    const debug = vi.fn();
    const { made, connection, opened } = setUp({ log: { ...silence, debug } as never });
    await opened();
    const error = new Error('not closed');
    Object.assign(made[0] ?? {}, { close: () => Promise.reject(error) });
    connection.renew();
    await vi.advanceTimersByTimeAsync(0);
    expect(debug.mock.calls).toEqual([[{ err: error }, 'a retired hub connection did not close cleanly']]);
  });
});
