import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import type { SendRefusal } from '../../src/hub/replies/sendFailure.ts';
import type { Reply } from '../../src/protocol/reply.ts';
import type { Delivery } from '../../src/protocol/vocabulary.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { replyTo, senderOver } from './support/replying.ts';

withFakeTimers();

const full: SendRefusal = { kind: 'later', reason: 'queue_full' };

/** A hub whose devices have room while they are not in `deaf`, and the course of each reply. */
function setUp(deaf: Set<string>, options: Parameters<typeof senderOver>[1] = {}) {
  const attempts: string[] = [];
  const told: string[] = [];
  const ends: string[] = [];
  const givingUp = new Map<string, () => void>();
  const sender = senderOver(async ({ deviceId, body }: Reply) => {
    attempts.push(body);
    return deaf.has(deviceId) ? full : undefined;
  }, options);

  /** The first letter is the device. */
  function send(name: string, ended?: AbortSignal): Promise<Delivery> {
    const sent = sender.send(replyTo(name.charAt(0), name), ended, {
      waits: (what) => void told.push(`${name} ${what}`),
      refused: (reason) => void told.push(`${name} ${reason}`),
      sleeps(giveUp) {
        told.push(`${name} sleeps`);
        givingUp.set(name, giveUp);
      },
    });
    void sent.then((delivery) => ends.push(`${name} ${typeof delivery === 'string' ? delivery : delivery.dropped}`));
    return sent;
  }
  return { sender, attempts, told, ends, send, giveUp: (name: string) => givingUp.get(name)?.() };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

describe('replies to one device', () => {
  it('are sent one after the other in order, also those of different messages', async () => {
    const deaf = new Set('a');
    const { attempts, ends, send } = setUp(deaf);
    for (const name of ['a1', 'a2', 'b1', 'a3']) void send(name);
    await settle();
    expect([attempts, ends]).toEqual([['a1', 'b1'], ['b1 delivered']]);
    deaf.clear();
    await vi.advanceTimersByTimeAsync(100);
    expect([attempts, ends.slice(1)]).toEqual([
      ['a1', 'b1', 'a1', 'a2', 'a3'],
      ['a1 delivered', 'a2 delivered', 'a3 delivered'],
    ]);
  });

  it('leave the line when their partition is lost, or the sender stops, and are undecided', async () => {
    const ended = new AbortController();
    const { sender, attempts, ends, send } = setUp(new Set('ab'));
    void send('a1');
    void send('b1', ended.signal);
    await settle();
    void send('a2', ended.signal);
    void send('a3');
    expect(getEventListeners(ended.signal, 'abort')).toHaveLength(1);
    ended.abort();
    await settle();
    expect(ends.toSorted()).toEqual(['a2 stopped', 'b1 stopped']);
    sender.stop();
    await settle();
    void send('a4');
    await settle();
    expect([ends.toSorted(), attempts]).toEqual([
      ['a1 stopped', 'a2 stopped', 'a3 stopped', 'a4 stopped', 'b1 stopped'],
      ['a1', 'b1'],
    ]);
    expect([vi.getTimerCount(), getEventListeners(ended.signal, 'abort')]).toEqual([0, []]);
  });

  it('are not sent for a partition that was lost before they came', async () => {
    const { attempts, ends, send } = setUp(new Set('a'));
    void send('a1');
    await settle();
    await send('a2', AbortSignal.abort());
    expect([ends, attempts]).toEqual([['a2 stopped'], ['a1']]);
  });
});

describe('a reply that waits for the full queue of its device', () => {
  it('sleeps between its attempts, and those behind it sleep until it is their turn', async () => {
    const deaf = new Set('a');
    const { told, send } = setUp(deaf);
    void send('a1');
    void send('a2');
    await settle();
    void send('a3');
    await settle();
    expect(told).toEqual(['a1 hub', 'a2 turn', 'a1 queue_full', 'a2 sleeps', 'a1 sleeps', 'a3 turn', 'a3 sleeps']);
    told.length = 0;
    await vi.advanceTimersByTimeAsync(100);
    expect(told).toEqual(['a1 hub', 'a1 queue_full', 'a1 sleeps']);
    told.length = 0;
    deaf.clear();
    await vi.advanceTimersByTimeAsync(200);
    expect(told).toEqual(['a1 hub', 'a2 hub', 'a3 hub']);
  });

  it('is given up at once when it is told to be, and the next one of its device is tried once (D19)', async () => {
    const { sender, attempts, ends, send, giveUp } = setUp(new Set('ab'));
    for (const name of ['a1', 'a2', 'b1']) void send(name);
    await settle();
    giveUp('a1');
    await settle();
    expect([ends, attempts]).toEqual([
      ['a1 queue_full', 'a2 queue_full'],
      ['a1', 'b1', 'a2'],
    ]);
    expect([...sender.notFetching()]).toEqual(['a']);
  });

  it('is given up behind another one, and while it waits for its turn at the rate of the hub', async () => {
    const { ends, attempts, send, giveUp } = setUp(new Set('a'), { ceiling: 1 });
    for (const name of ['a1', 'a2', 'a3']) void send(name);
    await settle();
    giveUp('a2');
    await vi.advanceTimersByTimeAsync(100);
    giveUp('a1');
    await settle();
    expect([ends, attempts]).toEqual([['a2 queue_full', 'a1 queue_full'], ['a1']]);
  });

  it('is seen by operators, with those behind it', async () => {
    const deaf = new Set('ab');
    const { sender, send } = setUp(deaf);
    const states: unknown[] = [];
    const look = () => states.push([sender.state(), sender.fullQueues()]);
    const since = performance.now();
    for (const name of ['a1', 'a2', 'b1', 'c1']) void send(name);
    await settle();
    look();
    deaf.clear();
    await vi.advanceTimersByTimeAsync(1_000);
    look();
    const quiet = { inFlight: 0, ratePerSecond: undefined, notFetching: 0, waiting: 0 };
    expect(states).toEqual([
      [
        { ...quiet, sleeping: 3 },
        [
          { device: 'a', replies: 2, since },
          { device: 'b', replies: 1, since },
        ],
      ],
      [{ ...quiet, sleeping: 0 }, []],
    ]);
  });
});

describe('replies of other devices', () => {
  const deafDevices = Array.from({ length: 3_000 }, (_, number) => `deaf-${number}`);
  const goodDevices = Array.from({ length: 20 }, (_, number) => `good-${number}`);

  /** How long the replies of 20 devices take, three each, at a rate of 5 a second, while so many devices do not fetch. */
  async function timesBeside(deaf: readonly string[]) {
    const sender = senderOver(async ({ deviceId }) => (deviceId.startsWith('deaf') ? full : undefined), { ceiling: 5 });
    for (const device of deaf) void sender.send(replyTo(device));
    await vi.advanceTimersByTimeAsync(deaf.length * 220); // each has been tried once
    const times: number[] = [];
    const begun = performance.now();
    for (const device of goodDevices) {
      for (let number = 0; number < 3; number += 1)
        void sender.send(replyTo(device)).then(() => times.push(performance.now() - begun));
    }
    await vi.advanceTimersByTimeAsync(60_000);
    sender.stop();
    return times.toSorted((one, other) => one - other);
  }

  it('wait for 3,000 devices with full queues hardly longer than for none, also at the rate of a small hub', async () => {
    const without = await timesBeside([]);
    const beside = await timesBeside(deafDevices);
    expect([without.length, beside.length]).toEqual([60, 60]);
    expect((beside.at(-1) ?? 0) / (without.at(-1) ?? 1)).toBeLessThan(1.1);
  });

  it('do not compete with ever more attempts: all full queues together are tried about a hundred times a second', async () => {
    const pauses: number[] = [];
    vi.stubGlobal('setTimeout', (_: unknown, ms: number) => pauses.push(ms));
    const sender = senderOver(async () => full, { random: () => 1, maxInFlight: 3_000 });
    for (const device of deafDevices) void sender.send(replyTo(device));
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    vi.unstubAllGlobals();
    expect(pauses).toEqual(deafDevices.map((_, before) => Math.max(100, 10 * (before + 1))));
  });

  it('are given up by full queues after a minute, also when these are tried only a few times in it', async () => {
    const { ends, send, sender } = setUp(new Set(['a']), { maxWaitMs: 1_000, random: () => 0 });
    const sent = send('a1');
    await vi.advanceTimersByTimeAsync(999);
    expect([ends, sender.state().sleeping]).toEqual([[], 1]);
    await vi.advanceTimersByTimeAsync(50);
    expect(await sent).toEqual({ dropped: 'queue_full' });
  });
});
