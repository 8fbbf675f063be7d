import { describe, expect, it, vi } from 'vitest';
import { createCheckpoints } from '../../src/engine/checkpointWriter.ts';
import { encodeCompletion } from '../../src/engine/completionMap.ts';
import type { Checkpoint } from '../../src/engine/progressTracker.ts';
import { withFakeTimers } from '../support/waiting.ts';

const everyMs = 5_000;
withFakeTimers();

const at = (sequenceNumber: number) => ({ sequenceNumber, offset: `o${sequenceNumber}` });

function setUp(progress?: Checkpoint, everyMessages = 10) {
  const written: Checkpoint[] = [];
  const troubles: string[] = [];
  const checkpoints = createCheckpoints({
    progress,
    async checkpoint(next) {
      written.push(next);
      return true;
    },
    limits: { everyMessages, everyMs },
    onTrouble: (_, what) => troubles.push(what),
    onRevoked() {},
  });
  return { checkpoints, written, troubles };
}

function setUpByHand() {
  const written: Checkpoint[] = [];
  let settle: (result: boolean | Error) => void = () => {};
  const checkpoints = createCheckpoints({
    progress: { ...at(10), completed: '' },
    checkpoint(next) {
      written.push(next);
      return new Promise(
        (resolve, reject) => (settle = (result) => (typeof result === 'boolean' ? resolve(result) : reject(result))),
      );
    },
    limits: { everyMessages: 10, everyMs },
    onTrouble() {},
    onRevoked() {},
  });
  async function answer(result: boolean | Error) {
    settle(result);
    await vi.advanceTimersByTimeAsync(0);
  }
  return { checkpoints, written, answer };
}

const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe('a checkpoint', () => {
  it('for skipped events is written at the interval and no sooner, also with one handled message among them', async () => {
    const { checkpoints, written } = setUp({ ...at(0), completed: '' });
    for (let one = 1; one <= 1_000; one += 1) {
      checkpoints.pass(at(one * 2));
      if (one % 200 === 0) checkpoints.end(checkpoints.begin(at(one * 2 + 1)));
    }
    await vi.advanceTimersByTimeAsync(everyMs - 1);
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(written).toMatchObject([{ sequenceNumber: 2_001 }]);
  });

  it('whose completion map cannot be read is logged', () => {
    const completed = encodeCompletion(10, [{ first: 20, last: 30 }]);
    expect(setUp({ ...at(9), completed }).troubles).toEqual(['handling again what was done above the checkpoint']);
    expect(setUp({ ...at(10), completed }).troubles).toEqual([]);
  });

  it('with a map of more than 4,000 characters is followed by the next after as many more messages, or at the interval', {
    timeout: 60_000,
  }, async () => {
    const { checkpoints, written } = setUp({ ...at(0), completed: '' });
    let next = 1;
    let state = 1;
    /** Between each and the one before, messages that are not done are at irregular distances. Answers how many were written. */
    async function finish(messages: number) {
      const before = written.length;
      for (let count = 0; count < messages; count += 1) {
        checkpoints.begin(at(next));
        checkpoints.end(checkpoints.begin(at(next + 1)));
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        next += 2 + (state >>> 24);
        await vi.advanceTimersByTimeAsync(0);
      }
      return written.length - before;
    }
    expect(await finish(1_000)).toBe(100);
    await finish(4_000);
    await checkpoints.flush();
    const due = Math.ceil((10 * (written.at(-1)?.completed.length ?? 0)) / 4_000);
    expect(due).toBeGreaterThan(20);
    expect([await finish(due - 1), await finish(1), await finish(10)]).toEqual([0, 1, 0]);
    const before = written.length;
    await vi.advanceTimersByTimeAsync(everyMs);
    expect(written.length).toBe(before + 1);
  });

  it('with a long map at the start of the session is followed by the first of the session after as many more messages', async () => {
    const { checkpoints, written } = setUp({ ...at(0), completed: 'x'.repeat(8_000) });
    for (const one of from(1, 19)) checkpoints.end(checkpoints.begin(at(one)));
    expect(written).toEqual([]);
    checkpoints.end(checkpoints.begin(at(20)));
    expect(written).toMatchObject([{ sequenceNumber: 20 }]);
  });

  it('without a safe position is not waited for', async () => {
    const { checkpoints, written } = setUp();
    checkpoints.begin(at(1));
    checkpoints.end(checkpoints.begin(at(2)));
    await checkpoints.flush();
    expect([written, checkpoints.state().unwritten]).toEqual([[], 1]);
  });
});

describe('a checkpoint that is requested during the write of another', () => {
  const note = { ends: 2, upTo: 13, alone: 11, suspects: new Map() };
  const text = '2 2 13 11 -';

  it('is written directly after it', async () => {
    const { checkpoints, written, answer } = setUpByHand();
    checkpoints.pass(at(11));
    await vi.advanceTimersByTimeAsync(everyMs);
    checkpoints.pass(at(12));
    const flushing = checkpoints.flush();
    await answer(true);
    expect(written).toMatchObject([{ sequenceNumber: 11 }, { sequenceNumber: 12 }]);
    await answer(true);
    await flushing;
  });

  it('has the requested crash record, and so have the next ones until its messages are done', async () => {
    const { checkpoints, written, answer } = setUpByHand();
    checkpoints.pass(at(11));
    await vi.advanceTimersByTimeAsync(everyMs);
    const isRecorded = checkpoints.recordCrashState(note);
    await answer(true);
    await answer(true);
    expect(await isRecorded).toBe(true);
    for (const one of [12, 13]) {
      checkpoints.pass(at(one));
      await vi.advanceTimersByTimeAsync(everyMs);
      await answer(true);
    }
    expect(written.map(({ note }) => note)).toEqual([undefined, text, text, undefined]);
    expect(written.at(-1)).not.toHaveProperty('note');
  });

  it('is written every 50 ms while unclean shutdowns are recorded, and at the usual intervals after their messages are done', async () => {
    const { checkpoints, written } = setUp({ ...at(10), completed: '', note: '2 1 12 - -' }, 1_000);
    for (const [one, ms] of [
      [11, 50],
      [12, 50],
      [13, everyMs],
    ] as const) {
      checkpoints.pass(at(one));
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(written.at(-1)?.sequenceNumber).not.toBe(one);
      await vi.advanceTimersByTimeAsync(1);
      expect(written.at(-1)?.sequenceNumber).toBe(one);
    }
  });

  it('is written at the usual intervals after four of them, even if messages of the shutdown are not done', async () => {
    const { checkpoints, written } = setUp({ ...at(10), completed: '', note: '2 1 99 - -' }, 1_000);
    await vi.advanceTimersByTimeAsync(4 * everyMs);
    checkpoints.pass(at(11));
    await vi.advanceTimersByTimeAsync(everyMs - 1);
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(written).toMatchObject([{ sequenceNumber: 11 }]);
  });

  it('reports that the crash record is not written when the store fails after it has taken an earlier one', async () => {
    const { checkpoints, answer } = setUpByHand();
    const isFirstRecorded = checkpoints.recordCrashState(note);
    await answer(true);
    const isNextRecorded = checkpoints.recordCrashState({ ...note, alone: 12 });
    await answer(new Error('disk full'));
    expect([await isFirstRecorded, await isNextRecorded]).toEqual([true, false]);
  });
});

describe('after a checkpoint', () => {
  async function tenHandled() {
    const set = setUpByHand();
    for (const one of from(11, 20)) set.checkpoints.end(set.checkpoints.begin(at(one)));
    expect(set.written).toMatchObject([{ sequenceNumber: 20 }]);
    return set;
  }

  it('that was refused because of another owner, nothing is written, even if more is done and requested', async () => {
    const { checkpoints, written, answer } = await tenHandled();
    await answer(false);
    checkpoints.stop(false);
    checkpoints.pass(at(21));
    await checkpoints.flush();
    await vi.advanceTimersByTimeAsync(2 * everyMs);
    expect(written).toHaveLength(1);
  });

  it('that has failed, the next one is due after one more handled message, not after a skipped event', async () => {
    const { checkpoints, written, answer } = await tenHandled();
    checkpoints.end(checkpoints.begin(at(21)));
    await answer(new Error('disk full'));
    expect(checkpoints.state().unwritten).toBe(11);
    checkpoints.pass(at(22));
    expect(written).toMatchObject([{ sequenceNumber: 20 }]);
    checkpoints.end(checkpoints.begin(at(23)));
    expect(written).toMatchObject([{ sequenceNumber: 20 }, { sequenceNumber: 23 }]);
  });

  it('that contains everything, no timer is left and a request writes nothing', async () => {
    const { checkpoints, written, answer } = await tenHandled();
    await answer(true);
    await checkpoints.flush();
    expect([written.length, vi.getTimerCount()]).toEqual([1, 0]);
  });
});

it('after the end of the intervals, a checkpoint is written only on demand, also for what was done before', async () => {
  const { checkpoints, written } = setUp({ ...at(10), completed: '' });
  checkpoints.pass(at(11));
  checkpoints.stop(false);
  checkpoints.pass(at(12));
  await vi.advanceTimersByTimeAsync(2 * everyMs);
  expect(written).toEqual([]);
  await checkpoints.flush();
  expect(written).toMatchObject([{ sequenceNumber: 12 }]);
});

it('of what has ended is not tried again by a drain, which writes the last one', async () => {
  const { checkpoints, written, answer } = setUpByHand();
  checkpoints.end(checkpoints.begin(at(11)));
  const draining = new AbortController();
  const recording = checkpoints.recordEnds(draining.signal);
  draining.abort();
  await answer(new Error('disk full'));
  expect(written).toHaveLength(1);
  await recording;
});

describe('the checkpoint state for operators', () => {
  const start = { ...at(10), completed: '' };
  const upToDate = { sequenceNumber: 10, ageSeconds: 0, failures: 0, isFailing: false, unwritten: 0 };

  it('is that of the session’s start until a checkpoint is written', () => {
    expect(setUp().checkpoints.state()).toEqual({ ...upToDate, sequenceNumber: undefined });
    const { checkpoints } = setUp(start);
    checkpoints.begin(at(11));
    expect(checkpoints.state()).toEqual(upToDate);
  });

  it('is the age of the first done message that no checkpoint contains, in seconds', async () => {
    const { checkpoints } = setUp(start);
    await vi.advanceTimersByTimeAsync(60_000);
    checkpoints.pass(at(11));
    await vi.advanceTimersByTimeAsync(2_000);
    checkpoints.end(checkpoints.begin(at(12)));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(checkpoints.state()).toEqual({ ...upToDate, ageSeconds: 3, unwritten: 1 });
    await vi.advanceTimersByTimeAsync(everyMs - 3_000);
    expect(checkpoints.state()).toEqual({ ...upToDate, sequenceNumber: 12 });
  });

  it('counts from the messages done during the write of the last one', async () => {
    const { checkpoints, answer } = setUpByHand();
    checkpoints.pass(at(11));
    await vi.advanceTimersByTimeAsync(everyMs + 2_000);
    checkpoints.pass(at(12));
    await vi.advanceTimersByTimeAsync(1_000);
    checkpoints.pass(at(13));
    await answer(true);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(checkpoints.state()).toEqual({ ...upToDate, sequenceNumber: 11, ageSeconds: 3 });
  });

  it('continues to count when a write fails, and has the number of failures', async () => {
    const { checkpoints, answer } = setUpByHand();
    checkpoints.end(checkpoints.begin(at(11)));
    const failing = { ...upToDate, isFailing: true, unwritten: 1 };
    for (const failures of [1, 2]) {
      await vi.advanceTimersByTimeAsync(everyMs);
      expect(checkpoints.state().unwritten).toBe(1); // it is being written
      await answer(new Error('disk full'));
      expect(checkpoints.state()).toEqual({ ...failing, ageSeconds: (failures * everyMs) / 1_000, failures });
    }
    await vi.advanceTimersByTimeAsync(everyMs);
    await answer(true);
    expect(checkpoints.state()).toEqual({ ...upToDate, sequenceNumber: 11, failures: 2 });
  });
});
