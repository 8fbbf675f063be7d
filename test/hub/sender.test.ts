import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { reportRefusal, type SendRefusal } from '../../src/hub/replies/sendFailure.ts';
import { createTroubles } from '../../src/observing/log.ts';
import { createMeter } from '../../src/observing/metrics.ts';
import type { Reply } from '../../src/protocol/reply.ts';
import type { Delivery } from '../../src/protocol/vocabulary.ts';
import { readingOf, recordingLog } from '../support/observed.ts';
import { signal, withFakeTimers } from '../support/waiting.ts';
import { replyTo, senderOver } from './support/replying.ts';

const later = (reason: SendRefusal['reason']): SendRefusal => ({ kind: 'later', reason });

withFakeTimers();

/** A hub that gives the scripted answers of each device in turn, the last one for ever. */
function setUp(answers: Record<string, (SendRefusal | undefined)[]>, maxInFlight = 10) {
  const attempts: string[] = [];
  const sendOnce = async ({ deviceId }: Reply) => {
    attempts.push(deviceId);
    const script = answers[deviceId] ?? [];
    return script.length > 1 ? script.shift() : script[0];
  };
  const sender = senderOver(sendOnce, { maxInFlight });
  return { sender, attempts };
}

/** The outcome so far; undefined while the reply is under way. */
function watch(promise: Promise<Delivery>) {
  const seen: { delivery?: Delivery } = {};
  void promise.then((delivery) => (seen.delivery = delivery));
  return seen;
}

/** What a reply waits for, and why the hub does not take it. */
function telling() {
  const told: string[] = [];
  const tell = (what: string) => void told.push(what);
  return { told, observer: { waits: tell, refused: tell, sleeps: () => tell('sleep') } };
}

describe('the sender', () => {
  it('reports each attempt that the hub did not accept, and what the reply waits for', async () => {
    const { sender } = setUp({ a: [later('queue_full'), later('throttled'), undefined] });
    const { told, observer } = telling();
    const sent = watch(sender.send(replyTo('a'), undefined, observer));
    await vi.advanceTimersByTimeAsync(1_000);
    expect([sent.delivery, told]).toEqual(['delivered', ['hub', 'queue_full', 'sleep', 'hub', 'throttled', 'hub']]);
  });

  it.each(['queue_full', 'not_taken'] as const)('drops a reply after a minute of %s, and says why', async (reason) => {
    const { sender } = setUp({ a: [later(reason)] });
    const sent = watch(sender.send(replyTo('a')));
    await vi.advanceTimersByTimeAsync(55_000);
    expect(sent.delivery).toBeUndefined();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sent.delivery).toEqual({ dropped: reason });
  });

  it('drops a reply after a time of throttling, but not for its own pace', async () => {
    const { sender, attempts } = setUp({ a: [later('throttled')] });
    const sent = watch(sender.send(replyTo('a')));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent.delivery).toBeUndefined();
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(sent.delivery).toEqual({ dropped: 'throttled' });
    expect(attempts.length).toBeGreaterThan(10);
  });

  it('drops a reply after a minute without an answer', async () => {
    const { sender, attempts } = setUp({ a: [later('unanswered')] });
    const sent = watch(sender.send(replyTo('a')));
    await vi.advanceTimersByTimeAsync(60_000);
    expect([sent.delivery, attempts.length]).toEqual([{ dropped: 'unanswered' }, 6]);
  });

  it('does not send a reply again that the hub accepts after the time-out', async () => {
    const { given: late, give: settle } = signal<SendRefusal | undefined>();
    const { sender, attempts } = setUp({ a: [{ ...later('unanswered'), late }] });
    const sent = watch(sender.send(replyTo('a')));
    await vi.advanceTimersByTimeAsync(10);
    settle(undefined);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([sent.delivery, attempts.length]).toEqual(['delivered', 1]);
  });

  it('does not take the time of connecting for throttling', async () => {
    let isConnected = false;
    const attempts: string[] = [];
    const sender = senderOver(async ({ deviceId }, onSent) => {
      if (!isConnected) await new Promise((resolve) => setTimeout(resolve, 9_000));
      isConnected = true;
      onSent();
      attempts.push(deviceId);
      return undefined;
    });
    void sender.send(replyTo('a'));
    await vi.advanceTimersByTimeAsync(10_000);
    for (let device = 0; device < 100; device += 1) void sender.send(replyTo(`d${device}`));
    await vi.advanceTimersByTimeAsync(0);
    expect(attempts).toHaveLength(101);
  });

  it('sends a reply again that the hub refuses after the time-out', async () => {
    const late = Promise.resolve(later('throttled'));
    const { sender, attempts } = setUp({ a: [{ ...later('unanswered'), late }, undefined] });
    const sent = watch(sender.send(replyTo('a')));
    await vi.advanceTimersByTimeAsync(1_000);
    expect([sent.delivery, attempts.length]).toEqual(['delivered', 2]);
  });

  it('waits for the next day when the quota is used up, tries one reply each minute, and drops none (D36)', async () => {
    const quota: SendRefusal = { kind: 'hub', reason: 'quota' };
    let isUsedUp = true;
    const attempts: string[] = [];
    const log = recordingLog();
    const troubles = createTroubles(log);
    const sender = senderOver(
      async ({ deviceId }) => {
        attempts.push(deviceId);
        return isUsedUp ? quota : undefined;
      },
      { troubles },
    );
    const sent = ['a', 'b', 'c'].map((deviceId) => watch(sender.send(replyTo(deviceId))));
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(sent.map(({ delivery }) => delivery)).toEqual([undefined, undefined, undefined]);
    expect(attempts.slice(0, 6)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
    expect(attempts.length).toBe(3 + 10);
    isUsedUp = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent.map(({ delivery }) => delivery)).toEqual(['delivered', 'delivered', 'delivered']);
    const texts = log.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
    expect(new Set(texts)).toEqual(
      new Set(['the hub’s daily quota is used up; replies wait, one is tried each minute']),
    );
    expect(texts.length).toBeLessThanOrEqual(12);
    expect(log.lines.at(-1)).toMatchObject({ level: 'info', message: 'the hub takes replies again' });
    troubles.close();
  });

  it.each<[kind: SendRefusal['kind'], reason: SendRefusal['reason'], lines: readonly string[]]>([
    ['hub', 'quota', ['error: the hub’s daily quota is used up; replies wait, one is tried each minute', 'end']],
    ['hub', 'suspended', ['error: the hub is suspended; replies wait, one is tried each minute', 'end']],
    ['later', 'throttled', ['warn: the hub throttles replies; they are sent more slowly']],
    ['later', 'unanswered', ['warn: the hub did not settle a reply in time']],
    ['later', 'queue_full', ['warn: devices do not fetch their replies, which wait for room in their queues']],
    ['later', 'not_taken', []],
  ])('logs trouble with the hub, not of one reply, and its end: %s, %s', (kind, reason, lines) => {
    const log = recordingLog();
    const troubles = createTroubles(log);
    reportRefusal({ kind, reason }, replyTo('a'), troubles);
    reportRefusal({ kind: 'connection', reason: 'hub_unavailable' }, replyTo('a'), troubles);
    reportRefusal(undefined, replyTo('a'), troubles);
    troubles.close();
    const told = lines.map((line) => (line === 'end' ? 'info: the hub takes replies again' : line));
    expect(log.lines.map(({ level, message }) => `${level}: ${message}`)).toEqual(told);
    for (const { fields } of log.lines.slice(0, 1)) expect(fields).toEqual({ device: 'a' });
  });

  it('reports a lasting refusal each minute, also in minutes without an attempt', async () => {
    const log = recordingLog();
    const troubles = createTroubles(log);
    for (const reason of ['quota', 'suspended'] as const)
      reportRefusal({ kind: 'hub', reason }, replyTo('a'), troubles);
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(log.lines.length).toBe(2 * 6);
    troubles.close();
  });

  it('still reports that the quota is used up when the connection fails meanwhile (D36)', async () => {
    const log = recordingLog();
    const troubles = createTroubles(log);
    const answers: SendRefusal[] = [
      { kind: 'hub', reason: 'quota' },
      { kind: 'connection', reason: 'hub_unavailable' },
    ];
    const sender = senderOver(async () => answers.shift(), { troubles });
    const sent = watch(sender.send(replyTo('a')));
    await vi.advanceTimersByTimeAsync(60_000);
    expect([answers.length, sent.delivery]).toEqual([0, undefined]);
    expect(log.lines.filter(({ level }) => level === 'info')).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([sent.delivery, log.lines.at(-1)?.message]).toEqual(['delivered', 'the hub takes replies again']);
    troubles.close();
  });

  it('tries each further reply to a device that does not fetch once, until one is taken (D19)', async () => {
    const full = later('queue_full');
    const script = [full];
    const { sender, attempts } = setUp({ a: script, other: [full] });
    const drops = ['a', 'other'].map((deviceId) => watch(sender.send(replyTo(deviceId))));
    await vi.advanceTimersByTimeAsync(70_000);
    expect(drops.map(({ delivery }) => delivery)).toEqual([{ dropped: 'queue_full' }, { dropped: 'queue_full' }]);
    expect([...sender.notFetching()]).toEqual(['a', 'other']);
    attempts.length = 0;
    expect([await sender.send(replyTo('a')), attempts.length]).toEqual([{ dropped: 'queue_full' }, 1]);

    script.unshift(later('throttled'), undefined as never, full);
    const taken = watch(sender.send(replyTo('a')));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(taken.delivery).toBe('delivered');
    const waits = watch(sender.send(replyTo('a')));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(waits.delivery).toBeUndefined();
  });

  it('remembers as not fetching only those whose queue was full to the end (D19)', async () => {
    const full = later('queue_full');
    const script = [later('not_taken')];
    const { sender, attempts } = setUp({ a: [full], b: [full], c: script });
    const drops = ['a', 'c'].map((deviceId) => watch(sender.send(replyTo(deviceId))));
    await vi.advanceTimersByTimeAsync(70_000);
    expect(drops.map(({ delivery }) => delivery)).toEqual([{ dropped: 'queue_full' }, { dropped: 'not_taken' }]);
    script.splice(0, 1, full);
    attempts.length = 0;
    const waits = ['b', 'c'].map((deviceId) => watch(sender.send(replyTo(deviceId))));
    await vi.advanceTimersByTimeAsync(30_000);
    expect([waits.map(({ delivery }) => delivery), new Set(attempts)]).toEqual([[undefined, undefined], new Set('bc')]);
    sender.stop();
  });

  it('waits half of each pause and a random part of the rest, so that not all are retried at once', async () => {
    async function pausesWith(chance: number) {
      const times: number[] = [];
      const sender = senderOver(
        async () => {
          times.push(Date.now());
          return times.length < 5 ? later('queue_full') : undefined;
        },
        { random: () => chance },
      );
      const sent = watch(sender.send(replyTo('a')));
      await vi.advanceTimersByTimeAsync(10_000);
      expect(sent.delivery).toBe('delivered');
      return times.slice(1).map((time, index) => time - (times[index] ?? 0));
    }
    expect(await pausesWith(1)).toEqual([100, 200, 400, 800]);
    expect(await pausesWith(0.5)).toEqual([75, 150, 300, 600]);
    expect(await pausesWith(0)).toEqual([50, 100, 200, 400]);
  });

  it('does not try a reply over the hub’s limit {S21.1}', async () => {
    const { sender, attempts } = setUp({});
    expect([await sender.send(replyTo('a', 'x'.repeat(65_537))), attempts]).toEqual([{ dropped: 'too_large' }, []]);
  });

  it.each(['session', 'service'])('leaves a reply undecided that the hub refuses after its %s', async (end) => {
    let refuse = () => {};
    const sender = senderOver(() => new Promise((resolve) => (refuse = () => resolve(later('queue_full')))));
    const ended = new AbortController();
    const sent = watch(sender.send(replyTo('a'), ended.signal));
    if (end === 'session') ended.abort();
    else sender.stop();
    refuse();
    await vi.advanceTimersByTimeAsync(0);
    expect([sent.delivery, vi.getTimerCount()]).toEqual(['stopped', 0]);
  });

  it('leaves a reply undecided that waits for another turn when it stops', async () => {
    const { sender, attempts } = setUp({ a: [{ kind: 'hub', reason: 'quota' }] });
    const { told, observer } = telling();
    const sent = watch(sender.send(replyTo('a'), undefined, observer));
    await vi.advanceTimersByTimeAsync(1_000);
    sender.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([sent.delivery, attempts, told]).toEqual(['stopped', ['a'], ['hub', 'quota', 'turn']]);
  });

  it('sends failures before other replies that wait, also those that it sends again', async () => {
    const settle: ((refusal?: SendRefusal) => void)[] = [];
    const began: string[] = [];
    const sender = senderOver(
      ({ body }) => {
        began.push(body);
        return new Promise((resolve) => settle.push(resolve));
      },
      { maxInFlight: 1 },
    );
    /** The first letter is the device; an exclamation mark is a failure. */
    const send = (...names: string[]) => {
      for (const name of names)
        void sender.send(replyTo(name.charAt(0), name, name.endsWith('!') ? { isFailure: true } : {}));
    };
    async function settled(refusal?: SendRefusal) {
      settle.shift()?.(refusal);
      await vi.advanceTimersByTimeAsync(100);
    }
    send('a', 'b', 'c', 'd!');
    await settled(later('not_taken'));
    for (let left = 0; left < 4; left += 1) await settled();
    expect(began).toEqual(['a', 'd!', 'b', 'c', 'a']);
    began.length = 0;
    send('e!', 'f', 'g');
    await settled(later('not_taken'));
    for (let left = 0; left < 3; left += 1) await settled();
    expect(began).toEqual(['e!', 'f', 'e!', 'g']);
  });

  it('leaves replies of a lost partition undecided at once, even when the hub cannot be reached', async () => {
    const { sender, attempts } = setUp({ a: [{ kind: 'connection', reason: 'hub_unavailable' }] });
    const ended = new AbortController();
    const sent = watch(sender.send(replyTo('a'), ended.signal));
    await vi.advanceTimersByTimeAsync(60_000);
    const before = attempts.length;
    ended.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect([sent.delivery, attempts.length, vi.getTimerCount()]).toEqual(['stopped', before, 0]);
  });

  it('keeps no state after the end of a session', async () => {
    const ended = new AbortController();
    const sender = senderOver(
      async ({ body }) => (body === 'refused' ? { kind: 'never', reason: 'refused' } : undefined),
      { ceiling: 1 },
    );
    const { sender: resending } = setUp({ a: [later('queue_full'), undefined] });
    const sent = ['1', '2', '3', 'refused'].map((body) => sender.send(replyTo('a', body), ended.signal));
    const all = Promise.all([...sent, resending.send(replyTo('a'), ended.signal)]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await all).toEqual(['delivered', 'delivered', 'delivered', { dropped: 'refused' }, 'delivered']);
    expect(getEventListeners(ended.signal, 'abort')).toEqual([]);
  });
});

describe('the reply state for operators', () => {
  const quiet = { waiting: 0, sleeping: 0, inFlight: 0, ratePerSecond: undefined, notFetching: 0 };

  it('has the numbers of replies that wait for their turn, for another attempt and for the hub, and the devices that do not fetch', async () => {
    const hanging = new Promise<SendRefusal | undefined>(() => {});
    const sender = senderOver(
      ({ deviceId }) => (deviceId === 'full' ? Promise.resolve(later('queue_full')) : hanging),
      { maxInFlight: 2 },
    );
    void sender.send(replyTo('full'));
    await vi.advanceTimersByTimeAsync(70_000);
    expect(sender.state()).toEqual({ ...quiet, notFetching: 1 });
    expect([...sender.notFetching()]).toEqual(['full']);
    for (const device of ['a', 'b', 'c']) void sender.send(replyTo(device));
    expect(sender.state()).toEqual({ ...quiet, waiting: 1, inFlight: 2, notFetching: 1 });
  });

  it('has the replies that wait for another attempt, or behind such a one of their device', async () => {
    const { sender } = setUp({ a: [later('not_taken')] });
    void sender.send(replyTo('a'));
    void sender.send(replyTo('a'));
    await vi.advanceTimersByTimeAsync(10);
    expect(sender.state()).toEqual({ ...quiet, waiting: 2 });
  });

  it('has the operator’s rate, or the rate learned from the hub, or 0 while the hub refuses all', async () => {
    const refusals: (SendRefusal | undefined)[] = [undefined, later('throttled'), { kind: 'hub', reason: 'quota' }];
    const sender = senderOver(async () => refusals.shift(), { ceiling: 8 });
    void sender.send(replyTo('a'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sender.state().ratePerSecond).toBe(8);
    void sender.send(replyTo('a'));
    await vi.advanceTimersByTimeAsync(10);
    expect(sender.state().ratePerSecond).toBeLessThan(8);
    expect(sender.state().ratePerSecond).toBeGreaterThan(0);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([refusals, sender.state().ratePerSecond]).toEqual([[], 0]);
  });
});

it('each attempt to send a reply is recorded, with its duration and the reason why the hub did not take it', async () => {
  const answers: (SendRefusal | undefined)[] = [{ kind: 'later', reason: 'throttled' }, undefined];
  const meter = createMeter();
  const sender = senderOver(
    async (_, onSent) => {
      await new Promise((resolve) => setTimeout(resolve, 5_000)); // connects
      onSent();
      await new Promise((resolve) => setTimeout(resolve, 250));
      return answers.shift();
    },
    { meter },
  );
  const sending = sender.send(replyTo('a'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await sending).toBe('delivered');
  expect(readingOf(meter, 'messaging.client.operation.duration')).toEqual({ throttled: 1, '': 1 });
  const reading = meter.readings().find(({ name }) => name === 'messaging.client.operation.duration');
  for (const { sum } of reading?.read() ?? []) expect(sum).toBeCloseTo(0.25);
});
