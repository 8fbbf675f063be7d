import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { errorMessage } from '../../edge/src/connections/network.ts';
import { type Connection, createReconnecting, unlessAborted } from '../../edge/src/connections/reconnecting.ts';
import { createLog } from '../../edge/src/observing/log.ts';
import { createMeter } from '../../edge/src/observing/metrics.ts';
import { seriesOf } from './support/testProxy.ts';

// A connection that is opened again, in virtual time (M13).

const backoff = { initialMs: 1_000, maxMs: 10_000, stableAfterMs: 60_000 };
let lines: Record<string, unknown>[];
let meter: ReturnType<typeof createMeter>;
/** Ends of the connections that were opened, and when each attempt began. */
let opened: ((reason: string) => void)[];
let attempts: number[];
let closes: number;
let isUp: boolean;
beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  // Pauses of their full length.
  vi.spyOn(Math, 'random').mockReturnValue(1);
  [lines, opened, attempts, closes, isUp] = [[], [], [], 0, false];
  meter = createMeter();
});
afterEach(() => expect(vi.getTimerCount()).toBe(0));

function start(open?: (signal: AbortSignal) => Promise<Connection>, name: 'the hub' | 'the broker' = 'the hub') {
  return createReconnecting<Connection>({
    ...{ name, backoff, meter },
    async open(signal) {
      attempts.push(Date.now());
      if (open) return open(signal);
      if (!isUp) throw new Error('connection refused');
      return {
        closed: new Promise((resolve) => opened.push(resolve)),
        close: async () => {
          closes += 1;
        },
      };
    },
    log: createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }),
    unstableMessage:
      'the hub closes each connection soon after it opens: does another program use the identity of this proxy?',
  });
}
const logged = (event: string) => lines.filter((line) => line['event'] === event);
const counted = () =>
  seriesOf(meter, 'device_messaging.edge.connections').flatMap(({ values, sum }) =>
    sum > 0 ? [[...values, sum]] : [],
  );

describe('a connection', () => {
  it('is reported each minute while its peer cannot be reached, until it is reached', async () => {
    const hub = start();
    expect(hub.waitingFor()).toBe('the hub');
    await vi.advanceTimersByTimeAsync(125_000);
    const waiting = { level: 'warn', event: 'hub.waiting', reason: 'connection refused' };
    expect(lines).toMatchObject([waiting, { ...waiting, forSeconds: 60 }, { ...waiting, forSeconds: 120 }]);
    expect(lines.map((line) => line['attempts'])).toEqual([undefined, 9, 15]);
    expect(hub.waitingFor()).toBe('the hub: connection refused');
    isUp = true;
    await vi.advanceTimersByTimeAsync(200_000);
    expect(lines.slice(3)).toMatchObject([{ event: 'hub.connected' }]);
    expect([hub.waitingFor(), hub.current() !== undefined]).toEqual([undefined, true]);
    expect(counted()).toEqual([
      ['hub', 'opened', 1],
      ['hub', 'failed', attempts.length - 1],
    ]);
    opened[0]?.('lost');
    isUp = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(logged('hub.waiting').slice(3)).toMatchObject([
      { reason: 'lost' },
      { reason: 'connection refused' },
      { forSeconds: 60, reason: 'connection refused' },
    ]);
    await hub.close();
  });

  it('is tried again after pauses that double up to a limit', async () => {
    const hub = start();
    await vi.advanceTimersByTimeAsync(45_000);
    expect(attempts).toEqual([0, 1_000, 3_000, 7_000, 15_000, 25_000, 35_000, 45_000]);
    await hub.close();
    await vi.advanceTimersByTimeAsync(100_000);
    expect(attempts).toHaveLength(8);
  });

  it('leaves no listener behind after a pause', async () => {
    const signals = new Set<AbortSignal>();
    const added = vi.spyOn(AbortSignal.prototype, 'addEventListener');
    const hub = start(async (signal) => {
      signals.add(signal);
      throw new Error('connection refused');
    });
    await vi.advanceTimersByTimeAsync(45_000);
    for (const signal of added.mock.contexts as AbortSignal[]) signals.add(signal);
    const listeners = [...signals].map((signal) => getEventListeners(signal, 'abort').length);
    expect(listeners.filter((count) => count > 0)).toEqual([1]); // of the present one
    await hub.close();
  });

  it.each(['is replaced', 'is closed'])('that %s while it opens waits no longer', async (how) => {
    const signals: AbortSignal[] = [];
    const hub = start((signal) => {
      signals.push(signal);
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    });
    if (how === 'is replaced') hub.renew();
    else await hub.close();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual(how === 'is replaced' ? [true, false] : [true]);
    await hub.close();
  });

  it('is tried again after half of a pause at least', async () => {
    vi.mocked(Math.random).mockReturnValue(0);
    const hub = start();
    await vi.advanceTimersByTimeAsync(3_500);
    expect(attempts).toEqual([0, 500, 1_500, 3_500]);
    await hub.close();
  });

  it('that lasted resets the pauses, and one that did not does not', async () => {
    isUp = true;
    const hub = start();
    await vi.advanceTimersByTimeAsync(0);
    for (let index = 0; index < 3; index += 1) {
      await vi.advanceTimersByTimeAsync(59_999);
      opened[index]?.('lost');
      await vi.advanceTimersByTimeAsync(1_000 * 2 ** index - 1);
      expect(opened).toHaveLength(index + 1);
      await vi.advanceTimersByTimeAsync(1);
      expect(opened).toHaveLength(index + 2);
    }
    const unstable = { level: 'error', event: 'hub.unstable', reason: 'lost' };
    expect(logged('hub.unstable')).toMatchObject([unstable]);
    await vi.advanceTimersByTimeAsync(60_000);
    for (let index = 3; index < 6; index += 1) {
      opened[index]?.('lost');
      await vi.advanceTimersByTimeAsync(index === 3 ? 1_000 : 60_000);
    }
    expect([opened.length, logged('hub.unstable').length, closes]).toEqual([7, 1, 6]);
    await hub.close();
    expect([closes, hub.current()]).toEqual([7, undefined]);
  });

  it('is replaced at once when it is renewed', async () => {
    isUp = true;
    const hub = start(undefined, 'the broker');
    await vi.advanceTimersByTimeAsync(0);
    hub.renew();
    expect(hub.current()).toBeDefined();
    await vi.advanceTimersByTimeAsync(0);
    expect([attempts, closes, hub.waitingFor()]).toEqual([[0, 0], 1, undefined]);
    expect([logged('broker.connected').length, logged('broker.waiting')]).toEqual([2, []]);
    expect(counted()).toEqual([['broker', 'opened', 2]]);
    await hub.close();
  });

  it('that is renewed while it is being opened is replaced as soon as it is open', async () => {
    let finish = () => {};
    const hub = start(async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return {
        closed: new Promise(() => {}),
        close: async () => {
          closes += 1;
        },
      };
    });
    await vi.advanceTimersByTimeAsync(10);
    hub.renew();
    expect(attempts).toEqual([0]);
    finish();
    await vi.advanceTimersByTimeAsync(0);
    expect([attempts, closes, hub.current()]).toEqual([[0, 10], 1, undefined]);
    finish();
    await vi.advanceTimersByTimeAsync(0);
    expect([attempts.length, closes, hub.current() === undefined]).toEqual([2, 1, false]);
    await hub.close();
  });

  it('that is closed while it is being opened counts as neither opened nor failed', async () => {
    const failing = start(
      (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
    );
    await failing.close();
    const close = vi.fn(async () => {});
    const late = start(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { closed: new Promise(() => {}), close };
    });
    await late.close();
    expect([close.mock.calls.length, late.current(), counted(), lines]).toEqual([1, undefined, [], []]);
  });
});

describe('work that a signal can end', () => {
  it('ends as it does by itself, and leaves no listener', async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    expect(await unlessAborted(Promise.resolve(7), signal)).toBe(7);
    await expect(unlessAborted(Promise.reject(new Error('lost')), signal)).rejects.toThrow('lost');
    await Promise.resolve();
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([2, 2]);
    expect(removed.mock.calls.map(([name, listener]) => [name, listener])).toEqual(
      added.mock.calls.map(([name, listener]) => [name, listener]),
    );
  });

  it('ends without a result when the signal comes first, or came before', async () => {
    const end = new AbortController();
    const working = unlessAborted(new Promise(() => {}), end.signal);
    end.abort();
    expect([await working, await unlessAborted(new Promise(() => {}), end.signal)]).toEqual([undefined, undefined]);
  });
});

it.each<[string, unknown, string]>([
  ['its message', new Error('connection refused'), 'connection refused'],
  ['its code without a message', Object.assign(new Error(''), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  ['its name without either', new RangeError(''), 'RangeError'],
  ['that of the first of several', new AggregateError([new Error('one'), new Error('two')], 'both'), 'one'],
  ['that of several without any', new AggregateError([], 'none'), 'none'],
  ['that of what the client of the hub wraps', { transportObj: new Error('inner') }, 'inner'],
  ['a sentence for a result without an error', { transportObj: {} }, 'the connection was closed'],
  ['a sentence for nothing', undefined, 'the connection was closed'],
])('the message of an error is %s', (_, error, message) => expect(errorMessage(error)).toBe(message));
