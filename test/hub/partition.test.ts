import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBudget } from '../../src/hub/partition/budget.ts';
import type { Progress } from '../../src/hub/partition/checkpoints.ts';
import { decodeCompletion } from '../../src/hub/partition/completionMap.ts';
import { knownHorizon } from '../../src/hub/partition/horizon.ts';
import { createPartition } from '../../src/hub/partition/partition.ts';
import { openSpool, type Spool } from '../../src/hub/partition/spool.ts';
import type { Stay } from '../../src/hub/partition/work.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import { bodyBytes, hubEvent } from '../support/events.ts';

let closeSpool = () => {};
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  closeSpool();
});

interface Given {
  maxMessages?: number;
  everyMessages?: number;
  deviceMessages?: number;
  maxMapBytes?: number;
  spoolBytes?: number;
  progress?: Progress;
  horizon?: number;
  /** What becomes of each checkpoint. */
  write?: () => boolean | Error | Promise<boolean>;
  /** A message for which the service itself fails. */
  poison?: { arrivalOf?: number; dispatch?: number };
  brokenSpool?: 'put' | 'take';
  /** Until then the spool gives nothing back. */
  slowDisk?: Promise<void>;
}

/** A partition whose messages end when the test says so. */
function setUp({
  maxMessages = 10,
  everyMessages = 100,
  deviceMessages = 16,
  maxMapBytes = 1000,
  spoolBytes = 1e6,
  progress,
  horizon = -1,
  write,
  poison = {},
  brokenSpool,
  slowDisk,
}: Given = {}) {
  const started: number[] = [];
  const repeats: number[] = [];
  const checkpoints: Progress[] = [];
  const failures: string[] = [];
  const stays: Stay[] = [];
  let givenUp = 0;
  const ends = new Map<number, (handled: boolean) => void>();
  const budget = createBudget({ maxMessages, maxBytes: 1_000_000 });
  const whole = openSpool(tmpdir(), `spool-${process.pid}-${Math.random()}`, {
    maxBytes: spoolBytes,
    maxMessages: 1e5,
  });
  closeSpool = () => whole.close();
  const spool: Spool = {
    ...whole,
    put(event) {
      if (brokenSpool === 'put') throw new Error('disk full');
      return whole.put(event);
    },
    async take(ticket) {
      if (brokenSpool === 'take') throw new Error('disk gone');
      await slowDisk;
      return whole.take(ticket);
    },
  };
  const partition = createPartition({
    budget,
    spool,
    progress,
    horizon: knownHorizon(horizon),
    costOf: bodyBytes,
    arrivalOf: (event, mayBeRepeat) => {
      const device = event.properties?.['device'];
      if (event.sequenceNumber === poison.arrivalOf) throw new Error('cannot be looked at');
      if (mayBeRepeat) repeats.push(event.sequenceNumber);
      return typeof device === 'string' ? { event, deviceId: device } : undefined;
    },
    dispatch: ({ event }, stay) => {
      stays.push(stay);
      started.push(event.sequenceNumber);
      if (event.sequenceNumber === poison.dispatch) return Promise.reject(new Error('a fault of our own'));
      return new Promise((resolve) => ends.set(event.sequenceNumber, resolve));
    },
    async checkpoint(given) {
      const result = (await write?.()) ?? true;
      if (result instanceof Error) throw result;
      if (result) checkpoints.push(given);
      return result;
    },
    limits: { everyMessages, everyMs: 5_000, deviceMessages, maxMapBytes },
    onTrouble: (_error, what) => failures.push(what),
    onGivenUp() {
      givenUp += 1;
    },
  });
  const end = async (sequenceNumber: number, handled = true) => {
    ends.get(sequenceNumber)?.(handled);
    await vi.advanceTimersByTimeAsync(0);
  };
  return {
    partition,
    started,
    stays,
    repeats,
    checkpoints,
    failures,
    end,
    budget,
    spool: whole,
    givenUp: () => givenUp,
  };
}

/** `a1 t2 b3`: device a at sequence number 1, telemetry at 2, device b at 3. */
const events = (text: string): HubEvent[] =>
  text.split(' ').map((one) => {
    const sequenceNumber = Number(one.slice(1));
    return hubEvent({ sequenceNumber, properties: one[0] === 't' ? {} : { device: one[0] } });
  });

const positions = (checkpoints: readonly Progress[]) => checkpoints.map(({ sequenceNumber }) => sequenceNumber);

describe('a partition', () => {
  it('start a1 a2 b3, finish b3: the checkpoint stays before 1 and remembers 3; finish a1, a2: the checkpoint is 3', async () => {
    const { partition, started, checkpoints, end } = setUp();
    await partition.admit(events('t0 a1 a2 b3'));
    expect(started).toEqual([1, 3]);
    await end(3);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(checkpoints).toEqual([{ sequenceNumber: 0, offset: '0', completed: expect.stringMatching(/^1/) }]);
    await end(1);
    await end(2);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(checkpoints.at(-1)).toEqual({ sequenceNumber: 3, offset: '3000', completed: '' });
  });

  it('does not repeat after a restart what was done behind one slow message', async () => {
    const first = setUp();
    await first.partition.admit(events('t0 a1 b2 c3 b4'));
    await first.end(2);
    await first.end(4);
    await vi.advanceTimersByTimeAsync(10_000);
    closeSpool();
    const progress = first.checkpoints.at(-1);
    const second = setUp(progress ? { progress } : {});
    await second.partition.admit(events('a1 b2 c3 b4 d5'));
    expect(second.started).toEqual([1, 3, 5]);
    for (const one of [1, 3, 5]) await second.end(one);
    await second.partition.drain(0);
    expect(positions(second.checkpoints)).toEqual([5]);
  });

  it('passes over what it has seen before, when the hub delivers from the checkpoint again', async () => {
    const { partition, started, end } = setUp();
    await partition.admit(events('a1 b2'));
    await partition.admit(events('a1 b2 c3'));
    await end(1);
    expect(started).toEqual([1, 2, 3]);
    expect(partition.position()).toEqual({ sequenceNumber: 3, offset: '3000' });
  });

  it('marks what another instance may have handled before it took the partition over', async () => {
    const { partition, repeats } = setUp({ horizon: 2 });
    await partition.admit(events('a1 b2 c3'));
    expect(repeats).toEqual([1, 2]);
  });

  it('writes a checkpoint after so many messages, without waiting for the clock', async () => {
    const { partition, checkpoints, end } = setUp({ everyMessages: 3 });
    await partition.admit(events('a1 b2 c3 d4'));
    for (const one of [1, 2, 3]) await end(one);
    expect(positions(checkpoints)).toEqual([3]);
  });

  it('writes a checkpoint for telemetry that is not ours by the clock alone, however much there is', async () => {
    const { partition, checkpoints } = setUp({ everyMessages: 3 });
    await partition.admit(events(Array.from({ length: 1_000 }, (_, index) => `t${index}`).join(' ')));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(checkpoints).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(positions(checkpoints)).toEqual([999]);
  });

  it('writes down what ended while a checkpoint was being written, though nothing comes after it', async () => {
    let written: (ok: boolean) => void = () => {};
    const slow = new Promise<boolean>((resolve) => {
      written = resolve;
    });
    const answers = [slow, true];
    const { partition, checkpoints, end } = setUp({ everyMessages: 1, write: () => answers.shift() ?? true });
    await partition.admit(events('a1 b2'));
    await end(1);
    await end(2);
    written(true);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(positions(checkpoints)).toEqual([1, 2]);
  });

  it('takes no more than the budget allows; the rest stays in the hub', async () => {
    const { partition, started, end } = setUp({ maxMessages: 2 });
    let admitted = false;
    void partition.admit(events('a1 b2 c3')).then(() => {
      admitted = true;
    });
    await vi.advanceTimersByTimeAsync(0);
    expect([started, admitted]).toEqual([[1, 2], false]);
    await end(2);
    expect([started, admitted]).toEqual([[1, 2, 3], true]);
  });

  it('never checkpoints a message that was not handled to its end', async () => {
    const { partition, checkpoints, end } = setUp();
    await partition.admit(events('t1 a2 t3'));
    await end(2, false);
    expect(await partition.drain(0)).toBe(1);
    expect(positions(checkpoints)).toEqual([1]);
  });
});

describe('a device that floods', () => {
  const flood = Array.from({ length: 20 }, (_, index) => `a${index + 1}`).join(' ');

  it('takes one place in the budget; the others go on behind it', async () => {
    const { partition, started, budget } = setUp({ maxMessages: 5, deviceMessages: 3 });
    await partition.admit(events(`${flood} b21`));
    expect(started).toEqual([1, 21]);
    expect([budget.inFlight().messages, budget.waiting.taken().messages]).toEqual([2, 2]);
  });

  it('keeps its order through the spool, bodies and properties intact', async () => {
    vi.useRealTimers();
    const seen: HubEvent[] = [];
    const spool = openSpool(tmpdir(), `spool-${process.pid}-flood`, { maxBytes: 1e6, maxMessages: 1e5 });
    closeSpool = () => spool.close();
    const partition = createPartition({
      budget: createBudget({ maxMessages: 5, maxBytes: 1e6 }),
      spool,
      progress: undefined,
      horizon: knownHorizon(-1),
      costOf: bodyBytes,
      arrivalOf: (event) => ({ event, deviceId: 'a' }),
      async dispatch({ event }) {
        seen.push(event);
        await new Promise((resolve) => setImmediate(resolve));
        return true;
      },
      checkpoint: async () => true,
      limits: { everyMessages: 100, everyMs: 5_000, deviceMessages: 3, maxMapBytes: 1000 },
      onTrouble() {},
      onGivenUp() {},
    });
    const sent = Array.from({ length: 50 }, (_, index) =>
      hubEvent({ sequenceNumber: index, properties: { n: index }, body: { index } }),
    );
    await partition.admit(sent);
    await vi.waitFor(() => expect(seen).toHaveLength(50));
    expect(seen.map(({ sequenceNumber }) => sequenceNumber)).toEqual(sent.map(({ sequenceNumber }) => sequenceNumber));
    expect(
      seen.map(({ body, properties, systemProperties }) => [
        Buffer.from(body as Uint8Array).toString(),
        properties,
        systemProperties,
      ]),
    ).toEqual(
      sent.map(({ body, properties, systemProperties }) => [
        Buffer.from(body as Uint8Array).toString(),
        properties,
        systemProperties,
      ]),
    );
  });

  it('cannot fill the budget with what stands behind its spool, where all would wait for each other', async () => {
    let release = () => {};
    const slowDisk = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { partition, started, end } = setUp({ maxMessages: 3, deviceMessages: 2, slowDisk });
    for (const [device, first] of [...'abc'].map((name, index) => [name, index * 3 + 1] as const)) {
      await partition.admit(events(`${device}${first} ${device}${first + 1} ${device}${first + 2}`));
      await end(first);
      await end(first + 1);
    }
    await partition.admit(events('a10 b11 c12'));
    vi.useRealTimers();
    release();
    await vi.waitFor(() => expect([...started].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]), 2_000);
  });

  it('holds up its partition when the spool is full, and only then', async () => {
    const { partition, started, end } = setUp({ deviceMessages: 2, spoolBytes: 1_000 });
    let admitted = false;
    void partition.admit(events(`${flood} b21`)).then(() => {
      admitted = true;
    });
    await vi.advanceTimersByTimeAsync(0);
    expect([started, admitted]).toEqual([[1], false]);
    await end(1);
    expect(started).toContain(2);
  });
});

describe('a fault of our own', () => {
  // Trap 9: whatever leaves the handler of the hub client stops the partition or skips the batch.
  it('with one event does not stop the partition: the event is passed over', async () => {
    const { partition, started, checkpoints, failures, end } = setUp({ poison: { arrivalOf: 2 } });
    await partition.admit(events('a1 b2 c3'));
    await end(1);
    await end(3);
    await partition.drain(0);
    expect([started, failures, positions(checkpoints)]).toEqual([[1, 3], ['event passed over'], [3]]);
  });

  it('with one message does not stop its device, the partition or the process', async () => {
    const { partition, started, checkpoints, failures, end, budget } = setUp({ poison: { dispatch: 1 } });
    await partition.admit(events('a1 a2 b3'));
    await vi.advanceTimersByTimeAsync(0);
    expect([[...started].sort(), failures]).toEqual([[1, 2, 3], ['message given up']]);
    await end(2);
    await end(3);
    await partition.drain(0);
    expect([positions(checkpoints), budget.inFlight()]).toEqual([[3], { messages: 0, bytes: 0 }]);
  });

  it('with a spool that cannot be written is a full spool: the partition waits, and nothing is lost', async () => {
    const { partition, started, failures, end } = setUp({ deviceMessages: 1, brokenSpool: 'put' });
    void partition.admit(events('a1 a2 b3'));
    await vi.advanceTimersByTimeAsync(0);
    expect([started, failures]).toEqual([[1], ['spool cannot be written']]);
    await end(1);
    expect(started).toEqual([1, 2, 3]);
  });

  it('with a spool that cannot be read gives the partition up, so that it is read again from its checkpoint', async () => {
    const { partition, started, checkpoints, end, givenUp } = setUp({ deviceMessages: 1, brokenSpool: 'take' });
    await partition.admit(events('t0 a1 a2 b3'));
    await end(1);
    await end(3);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([started, givenUp()]).toEqual([[1, 3], 1]);
    expect(positions(checkpoints)).toEqual([]);
  });

  it('does not come of a spool that is closed under what still reads from it', async () => {
    const { partition, spool, failures, end } = setUp({ deviceMessages: 1 });
    await partition.admit(events('a1 a2'));
    void end(1);
    const draining = partition.drain(0);
    spool.close();
    closeSpool = () => {};
    vi.useRealTimers();
    await draining;
    await new Promise((resolve) => setImmediate(resolve));
    expect(failures).toEqual([]);
  });
});

describe('subscriptions that overlap', () => {
  it('give each event once, though the first still waits for room with its own', async () => {
    const { partition, started, end } = setUp({ maxMessages: 1 });
    void partition.admit(events('a1 b2'));
    void partition.admit(events('b2 c3'));
    await vi.advanceTimersByTimeAsync(0);
    for (const one of [1, 2, 3]) await end(one);
    expect(started).toEqual([1, 2, 3]);
  });
});

describe('the end of a partition', () => {
  it('ends at its limit though the clock of the machine is put back', async () => {
    const { partition } = setUp();
    await partition.admit(events('a1'));
    let left: number | undefined;
    void partition.drain(10_000).then((count) => {
      left = count;
    });
    vi.setSystemTime(Date.now() - 3_600_000);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(left).toBe(1);
  });

  it('whenever it comes, the position covers all that has begun', async () => {
    for (let steps = 0; steps < 20; steps += 1) {
      const { partition, started, spool } = setUp();
      void partition.admit(events('a1 b2 c3'));
      for (let step = 0; step < steps; step += 1) await Promise.resolve();
      void partition.drain(0);
      await vi.advanceTimersByTimeAsync(0);
      expect(partition.position()?.sequenceNumber ?? 0).toBe(started.at(-1) ?? 0);
      if (steps < 19) spool.close();
    }
  });

  it('draining waits for what is running, starts nothing more, and writes the last checkpoint', async () => {
    const { partition, started, checkpoints, end, budget } = setUp();
    await partition.admit(events('a1 a2 b3'));
    const draining = partition.drain(25_000);
    await end(1);
    await end(3);
    expect(await draining).toBe(1);
    expect(started).toEqual([1, 3]);
    expect(positions(checkpoints)).toEqual([1]);
    expect(budget.inFlight()).toEqual({ messages: 0, bytes: 0 });
  });

  it('draining tells what is running to leave only at the limit', async () => {
    const { partition, stays, end } = setUp();
    await partition.admit(events('a1 b2'));
    const signals = () => stays.map(({ gone }) => gone.aborted);
    const draining = partition.drain(25_000);
    await end(2, false);
    await vi.advanceTimersByTimeAsync(24_999);
    expect(signals()).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await draining).toBe(2);
    expect(signals()).toEqual([true, true]);
  });

  it('tells what is running to leave as soon as ownership is lost', async () => {
    const { partition, stays } = setUp();
    await partition.admit(events('a1'));
    partition.abandon();
    expect(stays.map(({ gone }) => gone.aborted)).toEqual([true]);
  });

  it('writes down nothing that ends after the last checkpoint', async () => {
    const { partition, checkpoints, end } = setUp({ everyMessages: 1 });
    await partition.admit(events('t1 a2'));
    const draining = partition.drain(1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    await draining;
    await end(2);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(positions(checkpoints)).toEqual([1]);
  });

  it('draining writes the last checkpoint again when the store fails for a moment, and not for ever', async () => {
    let failing = 3;
    const write = () => (failing-- > 0 ? new Error('disk full') : true);
    const { partition, failures, checkpoints, end } = setUp({ write });
    await partition.admit(events('a1'));
    await end(1);
    const draining = partition.drain(0);
    await vi.advanceTimersByTimeAsync(2_000);
    await draining;
    expect([failures.length, positions(checkpoints)]).toEqual([3, [1]]);

    failing = Number.POSITIVE_INFINITY;
    const other = setUp({ write });
    await other.partition.admit(events('a1'));
    await other.end(1);
    const inVain = other.partition.drain(0);
    await vi.advanceTimersByTimeAsync(6_000);
    await inVain;
    expect(other.checkpoints).toEqual([]);
  });

  it('draining ends at its limit and says how much was left', async () => {
    const { partition, checkpoints } = setUp();
    await partition.admit(events('t1 a2 b3'));
    const draining = partition.drain(25_000);
    await vi.advanceTimersByTimeAsync(25_000);
    expect(await draining).toBe(2);
    expect(positions(checkpoints)).toEqual([1]);
  });

  it('lets go of who waits for room', async () => {
    const { partition, started } = setUp({ deviceMessages: 1, spoolBytes: 1 });
    const admitting = partition.admit(events('a1 a2'));
    await vi.advanceTimersByTimeAsync(0);
    partition.abandon();
    await admitting;
    expect(started).toEqual([1]);
  });

  it('writes no checkpoint after ownership is lost, though work goes on', async () => {
    const { partition, checkpoints, end } = setUp();
    await partition.admit(events('a1'));
    partition.abandon();
    await end(1);
    await partition.drain(1_000);
    expect(checkpoints).toEqual([]);
  });

  it('comes when the store says that somebody else owns the partition by now', async () => {
    const { partition, started, end } = setUp({ everyMessages: 1, write: () => false });
    await partition.admit(events('a1'));
    await end(1);
    await partition.admit(events('a2'));
    expect(started).toEqual([1]);
  });

  it('does not come because the store fails: the checkpoint is tried again', async () => {
    let fails = true;
    const { partition, failures, checkpoints, end } = setUp({
      everyMessages: 1,
      write: () => (fails ? new Error('disk full') : true),
    });
    await partition.admit(events('a1'));
    await end(1);
    expect([failures, checkpoints.length]).toEqual([['checkpoint not written'], 0]);
    fails = false;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(positions(checkpoints)).toEqual([1]);
  });
});

it('intake goes on when the map of what is done above the watermark is full: the farthest is forgotten', async () => {
  const progress = { sequenceNumber: 0, offset: '0', completed: '' };
  const { partition, started, checkpoints, end } = setUp({ maxMessages: 1000, maxMapBytes: 6, progress });
  await partition.admit(
    events(Array.from({ length: 20 }, (_, index) => `${'abcdefghijklmnopqrsu'[index]}${index * 20 + 1}`).join(' ')),
  );
  for (const [index, one] of [...started].entries()) if (index % 2 === 1) await end(one);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(started).toHaveLength(20);
  const done = decodeCompletion(0, checkpoints.at(-1)?.completed ?? '');
  expect(done.map(({ first, last }) => [first, last])).toEqual([
    [21, 21],
    [61, 61],
    [101, 101],
  ]);
});
