import { afterEach, describe, expect, it, vi } from 'vitest';
import { timing } from '../../src/settings/constants.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { repliesOver } from './support/replies.ts';
import { replyTo } from './support/replying.ts';

// Somebody sets the clock of the machine while replies are sent (D180).

withFakeTimers();

let replies: ReturnType<typeof repliesOver>;
afterEach(() => replies.close());

/** The sender of the service, over a client whose sends end like this. */
function senderOver(send: () => Promise<unknown>, sendsPerMinute = 0) {
  replies = repliesOver(send, { sendsPerMinute });
  return replies.sender;
}

const taken = async () => ({ result: {} });
const hourMs = 3_600_000;

describe('a change of the system clock', () => {
  it.each([
    ['back by an hour', -hourMs],
    ['forward by an hour', hourMs],
  ])('%s delays no reply', async (_, stepMs) => {
    const sender = senderOver(taken);
    await sender.send(replyTo('a'));
    vi.setSystemTime(Date.now() + stepMs);
    const deliveries = Promise.all(Array.from({ length: 20 }, (_, device) => sender.send(replyTo(`d${device}`))));
    expect(sender.state().waiting).toBe(0);
    expect(new Set(await deliveries)).toEqual(new Set(['delivered']));
  });

  it.each([
    ['back', -hourMs],
    ['forward', hourMs],
  ])('%s leaves the set rate as it is', async (_, stepMs) => {
    const sends = vi.fn(taken);
    const sender = senderOver(sends, 60);
    for (let device = 0; device < 100; device += 1) void sender.send(replyTo(`d${device}`));
    await vi.advanceTimersByTimeAsync(10_000);
    vi.setSystemTime(Date.now() + stepMs);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sends.mock.calls.length).toBeGreaterThanOrEqual(20);
    expect(sends.mock.calls.length).toBeLessThanOrEqual(22);
  });

  it('forward while the hub holds a reply is not taken for throttling', async () => {
    let settle = () => {};
    const sender = senderOver(() => new Promise((resolve) => (settle = () => resolve({ result: {} }))));
    const delivery = sender.send(replyTo('a'));
    await vi.advanceTimersByTimeAsync(10);
    vi.setSystemTime(Date.now() + 60_000);
    settle();
    expect([await delivery, sender.state().ratePerSecond]).toEqual(['delivered', undefined]);
  });

  it('back does not change the time for which a reply is retried', async () => {
    const full = () =>
      Promise.reject(Object.assign(new Error('full'), { amqpError: { condition: 'com.microsoft:timeout' } }));
    const sender = senderOver(full);
    const began = performance.now();
    let ended = 0;
    void sender.send(replyTo('a')).then(() => (ended = performance.now()));
    await vi.advanceTimersByTimeAsync(10_000);
    vi.setSystemTime(Date.now() - hourMs);
    await vi.advanceTimersByTimeAsync(120_000);
    const seconds = (ended - began) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(timing.replySeconds);
    expect(seconds).toBeLessThan(2 * timing.replySeconds);
  });
});
