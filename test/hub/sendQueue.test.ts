import { describe, expect, it, vi } from 'vitest';
import type { SendRefusal } from '../../src/hub/replies/sendFailure.ts';
import { createFairQueue, createSendQueue } from '../../src/hub/replies/sendQueue.ts';
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

type Turns = ReturnType<typeof createFairQueue<string>>;
const inTurn = (turns: Turns) => Array.from({ length: turns.size() }, () => turns.next());
/** The first letter is the device; an exclamation mark goes first. */
const add = (turns: Turns, ...all: string[]) => {
  for (const one of all) turns.add(one.charAt(0), one, one.endsWith('!'));
};

describe('the fair queue', () => {
  it('takes turns between devices, and keeps the order of each', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1', 'b1', 'a2', 'a3', 'c1', 'b2');
    expect(inTurn(turns)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(turns.next()).toBeUndefined();
  });

  it('begins each round with failures, and keeps the order of each device', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1', 'a2!', 'b1', 'c1!', 'd1');
    expect(inTurn(turns)).toEqual(['c1!', 'a1', 'b1', 'd1', 'a2!']);
  });

  it('serves every device, however many failures others have', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1', ...Array.from({ length: 5 }, (_, index) => `b${index}!`));
    expect(inTurn(turns).indexOf('a1')).toBe(1);
    add(turns, 'a2', 'b5!');
    const seen: (string | undefined)[] = [];
    for (let left = 0; left < 4; left += 1) {
      seen.push(turns.next());
      add(turns, `b${left}!`); // has always more to say
    }
    expect(seen).toContain('a2');
  });

  it('serves a device that comes later in the same round', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1', 'a2', 'b1');
    expect(turns.next()).toBe('a1');
    add(turns, 'c1');
    expect(inTurn(turns)).toEqual(['b1', 'c1', 'a2']);
  });

  it('skips replies that are no longer sent', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1', 'a2!', 'b1');
    turns.remove('a', 'a1');
    turns.remove('x', 'nothing');
    turns.remove('b', 'nothing');
    expect([turns.size(), ...inTurn(turns)]).toEqual([2, 'a2!', 'b1']);
    expect(turns.size()).toBe(0);
    add(turns, 'a1', 'a2', 'b1');
    turns.remove('a', 'a2');
    expect(inTurn(turns)).toEqual(['a1', 'b1']);
  });

  it('ranks a device by its present replies, not by removed ones', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1!', 'a2', 'b1', 'b2!', 'c1!');
    turns.remove('a', 'a1!');
    turns.remove('b', 'b1');
    expect(inTurn(turns)).toEqual(['c1!', 'b2!', 'a2']);
  });

  it('begins a new round when it is empty', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1');
    expect(turns.next()).toBe('a1');
    add(turns, 'a2', 'b1');
    expect(inTurn(turns)).toEqual(['a2', 'b1']);
  });
});
