import { describe, expect, it, vi } from 'vitest';
import type { SendRefusal } from '../../src/hub/replies/sendFailure.ts';
import { createPendingSends } from '../../src/hub/replies/serviceClient.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

/** The hub has 800 ms for an answer, counted in ticks of 100 ms: a send without one fails at the ninth tick. */
function setUp() {
  const told: string[] = [];
  const tell = (what: string) => () => void told.push(what);
  const pendingSends = createPendingSends(800, tell('silence'), tell('idle'));
  /** Begins a send that ends as the test says. */
  function follow() {
    let settle: (refusal?: SendRefusal) => void = () => {};
    const send = new Promise<SendRefusal | undefined>((resolve) => (settle = resolve));
    const state: { outcome?: SendRefusal | 'taken' } = {};
    void pendingSends.follow(send).then((outcome) => (state.outcome = outcome ?? 'taken'));
    return { send, state, settle };
  }
  return { pendingSends, told, follow };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const unanswered = { kind: 'later', reason: 'unanswered' };
const full: SendRefusal = { kind: 'later', reason: 'queue_full' };

describe('a send on a link', () => {
  it('ends as the hub says', async () => {
    const { pendingSends, told, follow } = setUp();
    const [one, two] = [follow(), follow()];
    expect(pendingSends.areAwaited()).toBe(true);
    one.settle();
    await pass(0);
    expect([one.state.outcome, pendingSends.areAwaited(), told]).toEqual(['taken', true, []]);
    two.settle(full);
    await pass(0);
    expect([two.state.outcome, pendingSends.areAwaited(), told]).toEqual([full, false, ['idle']]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('fails without an answer in time, which is told when it comes late', async () => {
    const { told, follow } = setUp();
    const { send, state, settle } = follow();
    await pass(800);
    expect(state.outcome).toBeUndefined();
    await pass(100);
    expect(state.outcome).toEqual({ ...unanswered, late: send });
    expect([told, vi.getTimerCount()]).toEqual([['idle'], 0]);
    settle();
    await pass(0);
    expect([told, await (state.outcome as SendRefusal).late]).toEqual([['idle'], undefined]);
  });

  it('has its time again when an earlier one is settled, but not when only a later one is', async () => {
    const { follow } = setUp();
    const [first, early, second, late] = [follow(), follow(), follow(), follow()];
    await pass(750);
    early.settle();
    late.settle();
    await pass(150);
    expect([first.state.outcome, second.state.outcome]).toEqual([expect.objectContaining(unanswered), undefined]);
    await pass(700);
    expect(second.state.outcome).toBeUndefined();
    await pass(100);
    expect(second.state.outcome).toMatchObject(unanswered);
  });

  it('is not awaited any more after the end of all, which counts as no answer', async () => {
    const { pendingSends, told, follow } = setUp();
    const sends = [follow(), follow()];
    pendingSends.expire();
    await pass(0);
    for (const { state } of sends) expect(state.outcome).toMatchObject(unanswered);
    expect([pendingSends.areAwaited(), told, vi.getTimerCount()]).toEqual([false, ['idle'], 0]);
  });
});

describe('a link', () => {
  it('is silent when no send was settled for twice the time of an answer', async () => {
    const { told, follow } = setUp();
    follow();
    await pass(900);
    const late = follow();
    await pass(700);
    expect(told).toEqual(['idle']);
    await pass(100);
    expect(told).toEqual(['idle', 'silence']);
    late.settle();
    follow();
    await pass(1_000);
    expect(told).toEqual(['idle', 'silence', 'idle']);
  });

  it('spans all sends since the oldest one without an answer, awaited or late', async () => {
    const { pendingSends, follow } = setUp();
    expect(pendingSends.span()).toBe(0);
    const [first, second, third] = [follow(), follow(), follow()];
    expect(pendingSends.span()).toBe(3);
    second.settle();
    await pass(0);
    expect(pendingSends.span()).toBe(3);
    first.settle();
    await pass(0);
    expect(pendingSends.span()).toBe(1);
    pendingSends.expire();
    follow();
    expect(pendingSends.span()).toBe(2);
    third.settle();
    await pass(0);
    expect(pendingSends.span()).toBe(1);
  });
});
