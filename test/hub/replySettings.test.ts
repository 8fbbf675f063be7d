import { expect, it, vi } from 'vitest';
import { errors } from '../../src/hub/serviceSdk.ts';
import { createMeter, type Meter } from '../../src/observing/metrics.ts';
import { settings } from '../support/environment.ts';
import { readingOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { repliesOver } from './support/replies.ts';
import { replyTo } from './support/replying.ts';

// Each setting of replies, and how long they wait, in the unit that its name says.

withFakeTimers();

/** The sender with a setting, over a client whose sends end like this. */
function senderWith(changed: Parameters<typeof repliesOver>[1], send: () => Promise<unknown>, meter?: Meter) {
  const sent = vi.fn(send);
  return { ...repliesOver(sent, changed, meter), sent };
}

/** After how many seconds it came to an end, if it did within ten minutes. */
async function secondsOf(work: Promise<unknown>): Promise<number | undefined> {
  const began = Date.now();
  let seconds: number | undefined;
  void work.then(() => (seconds = (Date.now() - began) / 1000));
  await vi.advanceTimersByTimeAsync(600_000);
  return seconds;
}

const full = () => Promise.reject(new errors.DeviceMaximumQueueDepthExceededError('full'));
const taken = async () => ({ result: {} });

it('replies are missing until the connection is open, and again when it is closed', async () => {
  const replies = senderWith({}, taken);
  const endpoint = ['the hub’s service endpoint'];
  expect(replies.missing()).toEqual(endpoint);
  await replies.connection.open();
  expect(replies.missing()).toEqual([]);
  await replies.close();
  expect([replies.missing(), vi.getTimerCount()]).toEqual([endpoint, 0]);
  expect(await replies.sender.send(replyTo('a'))).toBe('stopped');
});

it('attempts are recorded with the meter', async () => {
  const meter = createMeter();
  const { sender } = senderWith({}, taken, meter);
  await sender.send(replyTo('a'));
  expect(readingOf(meter, 'messaging.client.operation.duration')).toEqual({ '': 1 });
});

it('a reply is dropped after its longest wait', async () => {
  const { sender } = senderWith({ maxWaitSeconds: 20 }, full);
  const seconds = await secondsOf(sender.send(replyTo('a')));
  expect(seconds).toBeGreaterThanOrEqual(20);
  expect(seconds).toBeLessThan(30);
});

it.each([
  [0, 50],
  [0.5, 75],
])('with the random number %d a reply is sent again after %d ms', async (chance, ms) => {
  vi.spyOn(Math, 'random').mockReturnValue(chance);
  let sends = 0;
  const { sender } = senderWith({}, () => {
    sends += 1;
    return sends === 1 ? full() : taken();
  });
  expect(await secondsOf(sender.send(replyTo('a')))).toBe(ms / 1000);
});

it.each([
  [1, 1],
  [24, 4],
  [60, 10],
  [600, 10],
])('when replies wait %d s at most, one attempt ends after %d s', async (maxWaitSeconds, most) => {
  const { connection } = senderWith({ maxWaitSeconds }, () => new Promise(() => {}));
  const seconds = await secondsOf(connection.send(replyTo('a')));
  expect(seconds).toBeGreaterThanOrEqual(most);
  expect(seconds).toBeLessThanOrEqual(1.25 * most);
});

it.each([
  ['back', -3_600_000],
  ['forward', 3_600_000],
])('REPLIES_SENDS_PER_MINUTE are sent and no more, also when the system clock is set %s (D180)', async (_, stepMs) => {
  const { sender, sent } = senderWith({ sendsPerMinute: 30 }, taken);
  for (let device = 0; device < 100; device += 1) void sender.send(replyTo(`d${device}`));
  await vi.advanceTimersByTimeAsync(30_000);
  vi.setSystemTime(Date.now() + stepMs);
  await vi.advanceTimersByTimeAsync(30_000);
  expect([30, 31, 32]).toContain(sent.mock.calls.length);
  sender.stop();
});

it('REPLIES_SENDS_PER_MINUTE is learned from the hub unless it is set', async () => {
  const { sender, sent } = senderWith({}, taken);
  expect(settings.replies.sendsPerMinute).toBe(0);
  await Promise.all(Array.from({ length: 500 }, (_, device) => sender.send(replyTo(`d${device}`))));
  expect(sent).toHaveBeenCalledTimes(500);
});

it('no more than 256 replies wait for the hub’s answer', async () => {
  const { sender, sent } = senderWith({}, () => new Promise(() => {}));
  for (let device = 0; device < 300; device += 1) void sender.send(replyTo(`d${device}`));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(sent).toHaveBeenCalledTimes(256);
  sender.stop();
});
