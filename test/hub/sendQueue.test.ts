import { describe, expect, it, vi } from 'vitest';
import type { SendRefusal } from '../../src/hub/replies/sendFailure.ts';
import { createSendQueue } from '../../src/hub/replies/sendQueue.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

/** A send queue over a rate limit that says what the test says. */
function setUp({ holdMs = 0, maxInFlight = 10 } = {}) {
  const limit = { holdMs, settled: [] as unknown[] };
  const sendQueue = createSendQueue({
    rateLimit: {
      waitMs: () => limit.holdMs,
      began() {},
      perSecond: () => undefined,
      settled: (...settlement: unknown[]) => void limit.settled.push(settlement),
    },
    maxInFlight,
  });
  const begun: string[] = [];
  const ended: string[] = [];
  /** The first letter is the device, whose queue was full with an exclamation mark. */
  function ask(name: string, over?: AbortSignal) {
    const turn = sendQueue.turn(name.charAt(0), name.endsWith('!') ? 'full' : 'usual', over);
    if (turn === true) begun.push(name);
    else void turn.then((isTurn) => (isTurn ? begun : ended).push(name));
  }
  return { sendQueue, limit, begun, ended, ask };
}

describe('the send queue', () => {
  it('lets a send begin as soon as the rate limit has room, and not before', async () => {
    const { limit, begun, ask } = setUp({ holdMs: 1_000 });
    ask('a');
    limit.holdMs = 0;
    await vi.advanceTimersByTimeAsync(999);
    expect(begun).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun).toEqual(['a']);
  });

  it('lets no send overtake those that wait', async () => {
    const { sendQueue, limit, begun, ask } = setUp({ holdMs: 1_000 });
    ask('a');
    limit.holdMs = 0;
    ask('b');
    expect(begun).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([begun, sendQueue.state().inFlight]).toEqual([['a', 'b'], 2]);
  });

  it('begins the next sends when one is settled, and tells the rate limit how', async () => {
    const { sendQueue, limit, begun, ask } = setUp({ maxInFlight: 1 });
    const refusal: SendRefusal = { kind: 'later', reason: 'throttled' };
    for (const name of ['a', 'b', 'c']) ask(name);
    expect([begun, sendQueue.state()]).toEqual([['a'], { waiting: 2, inFlight: 1, ratePerSecond: undefined }]);
    sendQueue.settled(7, refusal);
    await vi.advanceTimersByTimeAsync(0);
    expect([begun, limit.settled, sendQueue.state().inFlight]).toEqual([['a', 'b'], [[7, refusal]], 1]);
    sendQueue.settled(8, undefined);
    sendQueue.settled(9, undefined);
    await vi.advanceTimersByTimeAsync(0);
    expect([begun, sendQueue.state()]).toEqual([
      ['a', 'b', 'c'],
      { waiting: 0, inFlight: 0, ratePerSecond: undefined },
    ]);
  });

  it('has a turn for a full queue when no other send waits, and else for one in sixteen', async () => {
    const { limit, begun, ask } = setUp({ holdMs: 1_000, maxInFlight: 100 });
    for (const name of ['x!', 'y!', 'z!']) ask(name);
    const others = Array.from({ length: 20 }, (_, number) => `${String.fromCharCode(97 + number)}`);
    for (const name of others) ask(name);
    limit.holdMs = 0;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(begun).toEqual([...others.slice(0, 15), 'x!', ...others.slice(15), 'y!', 'z!']);
  });

  it('gives no turn to a send that has ended before or while it waits', async () => {
    const { sendQueue, limit, begun, ended, ask } = setUp({ holdMs: 1_000 });
    const over = new AbortController();
    ask('a', over.signal);
    ask('b');
    over.abort();
    ask('c', over.signal);
    expect(sendQueue.state().waiting).toBe(1);
    limit.holdMs = 0;
    await vi.advanceTimersByTimeAsync(1_000);
    expect([begun, ended]).toEqual([['b'], ['a', 'c']]);
  });

  it('gives no turn after its end', async () => {
    const { sendQueue, begun, ended, ask } = setUp({ holdMs: 1_000 });
    for (const name of ['a', 'b']) ask(name);
    sendQueue.close();
    ask('c');
    await vi.advanceTimersByTimeAsync(0);
    expect([begun, ended, vi.getTimerCount()]).toEqual([[], ['a', 'b', 'c'], 0]);
  });
});
