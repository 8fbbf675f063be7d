import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBudget } from '../../src/engine/budget.ts';
import type { Checkpoint } from '../../src/engine/progressTracker.ts';
import { withFakeTimers } from '../support/waiting.ts';
import {
  budgetOf,
  events,
  fullBacklog,
  limits,
  partitionByHand,
  partitionWith,
  positions,
} from './support/partitions.ts';

withFakeTimers();

const none = { messages: 0, bytes: 0 };
const eachMessage = { limits: { ...limits, everyMessages: 1 } };

describe('the end of a partition', () => {
  it('can have a listener for each message in flight and each that waits, without a warning of Node.js', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error) => warnings.push(name);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const signals: AbortSignal[] = [];
    const waiting = (signal: AbortSignal) => {
      signals.push(signal);
      return new Promise<boolean>(() => {});
    };
    const { stays } = await partitionWith('a1 b2', {
      dependenciesOf: ({ deviceId }) => ({ areAvailable: () => deviceId === 'a', met: waiting }),
    });
    for (const signal of [...stays.map(({ ended }) => ended), ...signals])
      for (let message = 0; message < 30; message += 1) signal.addEventListener('abort', () => {});
    await vi.advanceTimersByTimeAsync(0);
    expect([stays.length, signals.length, warnings]).toEqual([1, 1, []]);
  });

  it('comes at its limit although the system clock is set back', async () => {
    const { partition } = await partitionWith('a1');
    let left: number | undefined;
    void partition.drain(10_000).then((count) => (left = count));
    vi.setSystemTime(Date.now() - 3_600_000);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(left).toBe(1);
  });

  it('leaves a position before every unfinished message, whenever it comes', async () => {
    for (let steps = 0; steps < 20; steps += 1) {
      const { partition, started } = partitionByHand();
      void partition.admit(events('a1 b2 c3'));
      for (let step = 0; step < steps; step += 1) await Promise.resolve();
      void partition.drain(0);
      await vi.advanceTimersByTimeAsync(0);
      expect(partition.position()?.sequenceNumber ?? 0).toBe(started.at(-1) ?? 0);
    }
  });

  it.each([
    ['room in the budget', 'a1 b2 t3', { budget: budgetOf(1) }],
    ['room to wait', 'a1 a2 t3', { ...eachMessage, backlog: fullBacklog() }],
  ])('in the middle of a batch leaves the telemetry behind a message that waits for %s', async (_, text, given) => {
    for (const how of ['drained', 'revoked'] as const) {
      const { partition, checkpoints, end } = partitionByHand(given);
      const admitting = partition.admit(events(text));
      await vi.advanceTimersByTimeAsync(0);
      if (how === 'revoked') partition.revoke();
      const draining = partition.drain(25_000);
      await end(1);
      await admitting;
      expect([await draining, positions(checkpoints)]).toEqual([0, how === 'drained' ? [1] : []]);
      expect(partition.position()?.sequenceNumber).toBe(1);
    }
  });

  it('by draining waits for messages in progress, begins no other, and writes the last checkpoint', async () => {
    const { partition, started, checkpoints, end, budget } = await partitionWith('a1 a2 b3');
    const draining = partition.drain(25_000);
    await end(1);
    await end(3);
    expect([await draining, started, positions(checkpoints)]).toEqual([1, [1, 3], [1]]);
    expect(budget.inFlight()).toEqual({ messages: 0, bytes: 0 });
  });

  it('by draining aborts messages in progress only at the limit', async () => {
    const { partition, stays, end } = await partitionWith('a1 b2');
    const signals = () => stays.map(({ ended }) => ended.aborted);
    const draining = partition.drain(25_000);
    await end(2, false);
    await vi.advanceTimersByTimeAsync(24_999);
    expect(signals()).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(1);
    expect(signals()).toEqual([true, true]);
    await end(1, false);
    expect(await draining).toBe(2);
  });

  it('by draining records messages that end after the abort, for a second at most', async () => {
    const { partition, checkpoints, stays, end } = await partitionWith('a1 b2 c3');
    const draining = partition.drain(25_000);
    await vi.advanceTimersByTimeAsync(25_000);
    expect(stays.map(({ ended }) => ended.aborted)).toEqual([true, true, true]);
    await end(2);
    await end(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([await draining, positions(checkpoints)]).toEqual([1, [2]]);
  });

  it('aborts messages in progress as soon as ownership is lost', async () => {
    const { partition, stays } = await partitionWith('a1');
    partition.revoke();
    expect(stays.map(({ ended }) => ended.aborted)).toEqual([true]);
  });

  it('ignores later events of the hub', async () => {
    const { partition, started, checkpoints } = partitionByHand(eachMessage);
    await partition.drain(0);
    await partition.admit(events('t1 a2'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect([partition.position(), started, checkpoints]).toEqual([undefined, [], []]);
  });

  it('does not record messages that end after the last checkpoint', async () => {
    const { partition, checkpoints, end } = await partitionWith('t1 a2', eachMessage);
    const draining = partition.drain(1_000);
    await vi.advanceTimersByTimeAsync(2_000);
    await draining;
    await end(2);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(positions(checkpoints)).toEqual([1]);
  });

  it('by draining retries the last checkpoint when the store fails, but not for ever', async () => {
    let failing = 3;
    const written: Checkpoint[] = [];
    async function checkpoint(progress: Checkpoint) {
      failing -= 1;
      if (failing >= 0) throw new Error('disk full');
      written.push(progress);
      return true;
    }
    const { partition, failures, end } = await partitionWith('a1', { checkpoint });
    await end(1);
    const draining = partition.drain(0);
    await vi.advanceTimersByTimeAsync(2_000);
    await draining;
    expect([failures.length, positions(written)]).toEqual([3, [1]]);

    failing = Number.POSITIVE_INFINITY;
    const other = partitionByHand({ checkpoint });
    await other.partition.admit(events('a1'));
    await other.end(1);
    const inVain = other.partition.drain(0);
    await vi.advanceTimersByTimeAsync(6_000);
    await inVain;
    expect([other.failures.length, positions(written)]).toEqual([11, [1]]); // at each half second from 0 to 5
  });

  it('leaves no charge of unfinished messages', async () => {
    const overall = budgetOf(10);
    const budget = createBudget({ maxMessages: 10, maxBytes: 1e6 }, overall);
    const { partition, started, backlog, end } = await partitionWith('a1 a2 b3', { budget });
    await end(1);
    partition.revoke();
    await end(3, false);
    await end(2, false);
    expect(started.toSorted()).toEqual([1, 2, 3]);
    expect([budget.inFlight(), overall.inFlight(), backlog.taken()]).toEqual([none, none, none]);
  });

  it('writes no checkpoint after ownership is lost, even if messages go on', async () => {
    const { partition, checkpoints, end } = await partitionWith('a1');
    partition.revoke();
    await end(1);
    await partition.drain(1_000);
    expect(checkpoints).toEqual([]);
  });

  it('comes when the store says that another instance owns the partition', async () => {
    const { partition, started, end } = await partitionWith('a1', { ...eachMessage, checkpoint: async () => false });
    await end(1);
    await partition.admit(events('a2'));
    expect(started).toEqual([1]);
  });

  it('does not come when the store fails: the checkpoint is retried', async () => {
    let fails = true;
    const written: Checkpoint[] = [];
    const { partition, failures, end } = partitionByHand({
      ...eachMessage,
      async checkpoint(progress) {
        if (fails) throw new Error('disk full');
        written.push(progress);
        return true;
      },
    });
    await partition.admit(events('a1'));
    await end(1);
    expect([failures, written]).toEqual([['checkpoint not written'], []]);
    fails = false;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(positions(written)).toEqual([1]);
  });
});
