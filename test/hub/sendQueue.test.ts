import { describe, expect, it, vi } from 'vitest';
import type { SendRefusal } from '../../src/hub/replies/sendFailure.ts';
import { createFairQueue, createSendQueue } from '../../src/hub/replies/sendQueue.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

/** A send queue over a rate limit that says what the test says. */
function setUp({ holdMs = 0, maxInFlight = 10 } = {}) {
  const limit = { holdMs, settled: [] as unknown[] };
  const rateLimit = {
    waitMs: () => limit.holdMs,
    began() {},
    perSecond: () => undefined,
    settled: (...settlement: unknown[]) => void limit.settled.push(settlement),
  };
  const sendQueue = createSendQueue(rateLimit, maxInFlight);
  const begun: string[] = [];
  /** The name is the device, whose queue was full with an exclamation mark. */
  function ask(name: string): () => void {
    const begins = () => void begun.push(name);
    if (!sendQueue.begin()) return sendQueue.wait(name, name.endsWith('!') ? 'full' : 'usual', begins);
    begins();
    return () => {};
  }
  return { sendQueue, limit, begun, ask };
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

  it('lets a send begin at once for which there is room by now', () => {
    const { sendQueue, limit, begun } = setUp({ holdMs: 1 });
    expect(sendQueue.begin()).toBe(false);
    limit.holdMs = 0;
    sendQueue.wait('a', 'usual', () => void begun.push('a'));
    expect([begun, sendQueue.state().inFlight, vi.getTimerCount()]).toEqual([['a'], 1, 0]);
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

  it('begins the next sends when one is settled, and tells the rate limit how', () => {
    const { sendQueue, limit, begun, ask } = setUp({ maxInFlight: 1 });
    const refusal: SendRefusal = { kind: 'later', reason: 'throttled' };
    for (const name of ['a', 'b', 'c']) ask(name);
    expect([begun, sendQueue.state()]).toEqual([['a'], { inFlight: 1, ratePerSecond: undefined }]);
    sendQueue.settled(7, refusal);
    expect([begun, limit.settled, sendQueue.state().inFlight]).toEqual([['a', 'b'], [[7, refusal]], 1]);
    sendQueue.settled(8, undefined);
    sendQueue.settled(9, undefined);
    expect([begun, sendQueue.state()]).toEqual([['a', 'b', 'c'], { inFlight: 0, ratePerSecond: undefined }]);
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

  it('gives no turn to a send that has left, nor after its end', async () => {
    const { sendQueue, limit, begun, ask } = setUp({ holdMs: 1_000 });
    const leave = ask('a');
    ask('b');
    leave();
    limit.holdMs = 0;
    await vi.advanceTimersByTimeAsync(1_000);
    expect([begun, sendQueue.state().inFlight]).toEqual([['b'], 1]);
    limit.holdMs = 1_000;
    ask('c');
    sendQueue.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

/** A queue in which the next reply of a device waits as soon as the one before has had its turn, as in the line of its device. */
function queueOf(...all: string[]) {
  const turns = createFairQueue<string>();
  const lines = new Map<string, string[]>();
  const enter = (device: string) => {
    const [next] = lines.get(device) ?? [];
    return next === undefined ? undefined : turns.add(device, next, next.endsWith('!'));
  };
  /** The first letter is the device; an exclamation mark goes first. */
  const add = (...names: string[]) =>
    names.map((name) => {
      const device = name.charAt(0);
      const line = lines.get(device) ?? [];
      lines.set(device, line);
      return line.push(name) === 1 ? enter(device) : undefined;
    });
  const next = () => {
    const one = turns.next();
    const device = one?.charAt(0) ?? '';
    lines.get(device)?.shift();
    enter(device);
    return one;
  };
  const inTurn = () => {
    const taken: string[] = [];
    for (let one = next(); one !== undefined; one = next()) taken.push(one);
    return taken;
  };
  const leaves = add(...all);
  return { turns, add, next, inTurn, leaves };
}

describe('the fair queue', () => {
  it('takes turns between devices', () => {
    const { turns, inTurn } = queueOf('a1', 'b1', 'a2', 'a3', 'c1', 'b2');
    expect([turns.size(), inTurn()]).toEqual([3, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']]);
    expect([turns.size(), turns.next()]).toEqual([0, undefined]);
  });

  it('begins each round with failures', () =>
    expect(queueOf('a1', 'a2!', 'b1', 'c1!', 'd1').inTurn()).toEqual(['c1!', 'a1', 'b1', 'd1', 'a2!']));

  it('serves every device, however many failures others have', () => {
    const { add, next, inTurn } = queueOf('a1', ...Array.from({ length: 5 }, (_, index) => `b${index}!`));
    expect(inTurn().indexOf('a1')).toBe(1);
    add('a2', 'b5!');
    const seen: (string | undefined)[] = [];
    for (let left = 0; left < 4; left += 1) {
      seen.push(next());
      add(`b${left}!`); // has always more to say
    }
    expect(seen).toContain('a2');
  });

  it('serves a device that comes later in the same round', () => {
    const { add, next, inTurn } = queueOf('a1', 'a2', 'b1');
    expect(next()).toBe('a1');
    add('c1');
    expect(inTurn()).toEqual(['b1', 'c1', 'a2']);
  });

  it.each([
    ['is waiting for its turn', 0],
    ['has had one in this round', 1],
  ])('skips a reply that is no longer sent, whose device %s', (_, served) => {
    const { turns, inTurn, next, leaves } = queueOf('a1', 'b1');
    let [leave] = leaves;
    for (let turn = 0; turn < served; turn += 1) {
      expect(next()).toBe('a1');
      leave = turns.add('a', 'a2', true);
    }
    leave?.();
    expect([turns.size(), ...inTurn()]).toEqual([1, 'b1']);
  });

  it('begins a new round when it is empty', () => {
    const { turns, add, next, inTurn } = queueOf('a1');
    expect(next()).toBe('a1');
    add('a2', 'b1');
    expect([inTurn(), turns.size()]).toEqual([['a2', 'b1'], 0]);
  });
});
