import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRateLimit } from '../../src/hub/replies/rateLimit.ts';
import { createSendQueue } from '../../src/hub/replies/sendQueue.ts';
import { createStuckWatch, type StuckWatch } from '../../src/hub/replies/stuckWatch.ts';
import { createTroubles } from '../../src/log/troubles.ts';
import { recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

let watch: StuckWatch;
afterEach(() => watch.stop());

const minuteMs = 60_000;

/** A send queue over a rate limit that holds every send for as long as the test says, with no reason that anybody knows. */
function setUp({ ceiling = Number.POSITIVE_INFINITY, isFaulty = true } = {}) {
  const now = () => performance.now();
  const rateLimit = createRateLimit({ ceiling, answerWithinMs: 10_000, now });
  const held = { ms: isFaulty ? 5 * minuteMs : 0 };
  const sendQueue = createSendQueue({
    rateLimit: { ...rateLimit, waitMs: (inFlight) => Math.max(held.ms, rateLimit.waitMs(inFlight)) },
    maxInFlight: 2,
    now,
  });
  const log = recordingLog();
  const link = { isOpen: true };
  watch = createStuckWatch({ sendQueue, isOpen: () => link.isOpen, troubles: createTroubles(log) });
  const wait = (deviceId: string) => Promise.resolve(sendQueue.turn(deviceId, 'usual', undefined));
  return { sendQueue, held, link, log, wait };
}

const texts = ({ lines }: ReturnType<typeof recordingLog>) => lines.map(({ message }) => message);

describe('replies that could be sent and are not', () => {
  it('are an error after 30 seconds, repeated each minute, and the service is not ready', async () => {
    const { log, wait } = setUp();
    void wait('a');
    void wait('b');
    await vi.advanceTimersByTimeAsync(30_000);
    expect([watch.missing(), log.lines]).toEqual([[], []]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(watch.missing()).toEqual([expect.stringContaining('replies that could be sent and are not')]);
    const line = { level: 'error', message: 'replies that could be sent are not sent' };
    expect(log.lines).toEqual([{ ...line, fields: { waitingReplies: 2 } }]);
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(log.lines).toMatchObject([line, { ...line, fields: { waitingReplies: 2, forSeconds: 60 } }]);
  });

  it('are resolved by the first sent reply', async () => {
    const { sendQueue, held, log, wait } = setUp();
    void wait('a');
    await vi.advanceTimersByTimeAsync(40_000);
    held.ms = 0;
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    expect(watch.missing()).toEqual([]);
    expect(new Set(texts(log))).toEqual(new Set(['replies that could be sent are not sent', 'replies are sent again']));
    expect(sendQueue.state().waiting).toBe(0);
  });

  it('are counted from when no reply is before them, not from the last sent one', async () => {
    const { sendQueue, held, wait } = setUp({ isFaulty: false });
    await wait('a').then(() => sendQueue.settled(performance.now(), undefined));
    await vi.advanceTimersByTimeAsync(10 * minuteMs);
    held.ms = 5 * minuteMs;
    void wait('b');
    await vi.advanceTimersByTimeAsync(30_000);
    expect(watch.missing()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(watch.missing()).toHaveLength(1);
  });
});

it('replies that wait behind an unsettled one are counted from its settlement', async () => {
  const { sendQueue, held, wait } = setUp({ isFaulty: false });
  await wait('a');
  held.ms = 5 * minuteMs;
  void wait('b');
  await vi.advanceTimersByTimeAsync(minuteMs);
  sendQueue.settled(performance.now(), undefined);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(watch.missing()).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(watch.missing()).toHaveLength(1);
});

describe('replies that wait with a reason', () => {
  const untold = async (log: ReturnType<typeof recordingLog>) => {
    await vi.advanceTimersByTimeAsync(10 * minuteMs);
    expect([watch.missing(), texts(log)]).toEqual([[], []]);
  };

  it('are not stuck while there is no connection', async () => {
    const { link, log, wait } = setUp();
    link.isOpen = false;
    void wait('a');
    await untold(log);
  });

  it('are not stuck while the hub has an unsettled one', async () => {
    const { held, log, wait } = setUp({ isFaulty: false });
    await wait('a');
    held.ms = 60 * minuteMs;
    void wait('b');
    await untold(log);
  });

  it('are not stuck during the pause after a hub’s refusals', async () => {
    const { sendQueue, log, wait } = setUp({ isFaulty: false });
    const refused = () => sendQueue.settled(performance.now(), { kind: 'hub', reason: 'quota' });
    await wait('a').then(refused);
    for (const deviceId of ['b', 'c', 'd']) void wait(deviceId).then(refused);
    await vi.advanceTimersByTimeAsync(59_000);
    expect([watch.missing(), texts(log), sendQueue.state().waiting]).toEqual([[], [], 3]);
    await untold(log);
  });

  it('are not stuck at a rate that an operator has set, however low', async () => {
    const { sendQueue, log, wait } = setUp({ isFaulty: false, ceiling: 1 / 60 });
    for (const deviceId of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm']) {
      void wait(deviceId).then(() => sendQueue.settled(performance.now(), undefined));
    }
    await untold(log);
    expect(sendQueue.state().waiting).toBeGreaterThan(0);
  });
});
