import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Refusal } from '../../src/hub/replies/refusal.ts';
import { createSender, type Delivery } from '../../src/hub/replies/sender.ts';
import type { Reply } from '../../src/protocol/c2d.ts';

const reply = (deviceId: string, body = '{}'): Reply => ({
  kind: 'acknowledgement',
  deviceId,
  messageId: 'm',
  correlationId: undefined,
  properties: {},
  body,
});
const later = (reason: Refusal['reason']): Refusal => ({ kind: 'later', reason });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A hub that gives the scripted answers of each device in turn, the last one for ever. */
function setUp(answers: Record<string, (Refusal | undefined)[]>, maxInFlight = 10) {
  const attempts: string[] = [];
  const sender = createSender({
    async sendOnce({ deviceId }) {
      attempts.push(deviceId);
      const script = answers[deviceId] ?? [];
      return script.length > 1 ? script.shift() : script[0];
    },
    maxWaitMs: 60_000,
    maxInFlight,
    random: () => 0.5,
    now: Date.now,
  });
  return { sender, attempts };
}

/** The outcome so far; undefined while the reply is under way. */
function watch(promise: Promise<Delivery>) {
  const seen: { delivery?: Delivery } = {};
  void promise.then((delivery) => {
    seen.delivery = delivery;
  });
  return seen;
}

describe('the sender', () => {
  it('waits out a full queue and delivers then', async () => {
    const { sender, attempts } = setUp({ a: [later('queue_full'), later('throttled'), undefined] });
    const sent = watch(sender.send(reply('a')));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent.delivery).toBe('delivered');
    expect(attempts).toHaveLength(3);
  });

  it.each(['queue_full', 'throttled', 'unanswered', 'not_taken'] as const)(
    'drops a reply after a minute of %s, and says why',
    async (reason) => {
      const { sender } = setUp({ a: [later(reason)] });
      const sent = watch(sender.send(reply('a')));
      await vi.advanceTimersByTimeAsync(55_000);
      expect(sent.delivery).toBeUndefined();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(sent.delivery).toEqual({ dropped: reason });
    },
  );

  it('tries each further reply to a device that does not fetch once, until one is taken (D19)', async () => {
    const full = later('queue_full');
    const script = [full];
    const { sender, attempts } = setUp({ a: script });
    const drop = watch(sender.send(reply('a')));
    await vi.advanceTimersByTimeAsync(70_000);
    expect(drop.delivery).toEqual({ dropped: 'queue_full' });
    attempts.length = 0;
    expect(await sender.send(reply('a'))).toEqual({ dropped: 'queue_full' });
    expect(attempts).toHaveLength(1);

    script.unshift(later('throttled'), undefined as never, full);
    const taken = watch(sender.send(reply('a')));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(taken.delivery).toBe('delivered');
    const waits = watch(sender.send(reply('a')));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(waits.delivery).toBeUndefined();
  });

  it('drops at once what the hub will never take', async () => {
    const { sender, attempts } = setUp({ a: [{ kind: 'never', reason: 'unknown_device' }] });
    expect(await sender.send(reply('a'))).toEqual({ dropped: 'unknown_device' });
    expect(attempts).toHaveLength(1);
  });

  it('does not even try what exceeds the hub’s limit', async () => {
    const { sender, attempts } = setUp({});
    expect(await sender.send(reply('a', 'x'.repeat(65_537)))).toEqual({ dropped: 'too_large' });
    expect(attempts).toEqual([]);
  });

  it('gives up no reply while the hub cannot be reached at all', async () => {
    const down: Refusal = { kind: 'connection', reason: 'hub_unavailable' };
    const { sender } = setUp({ a: [...Array<Refusal>(200).fill(down), undefined] });
    const sent = watch(sender.send(reply('a')));
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(sent.delivery).toBeUndefined();
    await vi.advanceTimersByTimeAsync(20 * 60_000);
    expect(sent.delivery).toBe('delivered');
  });

  it('lets no device wait for another', async () => {
    const { sender } = setUp({ a: [later('queue_full')] });
    const a = watch(sender.send(reply('a')));
    const b = watch(sender.send(reply('b')));
    await vi.advanceTimersByTimeAsync(0);
    expect([a.delivery, b.delivery]).toEqual([undefined, 'delivered']);
    sender.stop();
  });

  it('has no more replies open than allowed', async () => {
    let open = 0;
    let most = 0;
    const sender = createSender({
      async sendOnce() {
        open += 1;
        most = Math.max(most, open);
        await Promise.resolve();
        open -= 1;
        return undefined;
      },
      maxWaitMs: 1,
      maxInFlight: 3,
      random: () => 0,
      now: Date.now,
    });
    await Promise.all(Array.from({ length: 20 }, (_, index) => sender.send(reply(`d${index}`))));
    expect(most).toBe(3);
  });

  it('leaves undecided what it still holds when it stops', async () => {
    const { sender } = setUp({ a: [later('queue_full')] });
    const sent = watch(sender.send(reply('a')));
    await vi.advanceTimersByTimeAsync(50);
    sender.stop();
    await vi.advanceTimersByTimeAsync(0);
    expect(sent.delivery).toBe('stopped');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves undecided what is no longer ours to send, at once, though the hub cannot be reached at all', async () => {
    const { sender, attempts } = setUp({ a: [{ kind: 'connection', reason: 'hub_unavailable' }] });
    const gone = new AbortController();
    const sent = watch(sender.send(reply('a'), gone.signal));
    await vi.advanceTimersByTimeAsync(60_000);
    const before = attempts.length;
    gone.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(sent.delivery).toBe('stopped');
    expect([attempts.length, vi.getTimerCount()]).toEqual([before, 0]);
  });
});
