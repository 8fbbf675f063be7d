import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCheckpoints, type Progress } from '../../src/hub/partition/checkpoints.ts';
import { decodeCompletion, encodeCompletion } from '../../src/hub/partition/completionMap.ts';

const everyMs = 5_000;
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const at = (sequenceNumber: number) => ({ sequenceNumber, offset: `o${sequenceNumber}` });

function setUp(progress?: Progress, everyMessages = 10) {
  const written: Progress[] = [];
  const checkpoints = createCheckpoints({
    progress,
    async checkpoint(next) {
      written.push(next);
      return true;
    },
    limits: { everyMessages, everyMs, maxMapBytes: 400_000 },
    onTrouble(error) {
      throw error;
    },
    onLost() {},
  });
  return { checkpoints, written };
}

describe('a checkpoint', () => {
  const runs = [
    { first: 20, last: 30 },
    { first: 40, last: 50 },
  ];
  const progress = { ...at(10), completed: encodeCompletion(10, runs, 100) };

  it('still says what the reader before had done and this one has not come to yet', async () => {
    const { checkpoints, written } = setUp(progress);
    checkpoints.begin(at(11));
    checkpoints.pass(at(12));
    await checkpoints.flush();
    expect(decodeCompletion(10, written[0]?.completed ?? '')).toEqual([{ first: 12, last: 12 }, ...runs]);
  });

  it('says each position once when this reader is in the middle of what the one before had done', async () => {
    const { checkpoints, written } = setUp(progress);
    const eleven = checkpoints.begin(at(11));
    for (const one of [12, 20, 21]) checkpoints.pass(at(one));
    checkpoints.begin(at(22));
    await checkpoints.flush();
    checkpoints.end(eleven);
    await checkpoints.flush();
    expect(written.at(-1)).toMatchObject({ sequenceNumber: 21 });
    expect(decodeCompletion(21, written.at(-1)?.completed ?? '')).toEqual([
      { first: 23, last: 30 },
      { first: 40, last: 50 },
    ]);
  });

  it('comes when it is time, and no sooner, for events that are passed over, also when one message is handled among them', async () => {
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

  it('with a map twice as large comes after twice as many messages, or when it is time', async () => {
    const { checkpoints, written } = setUp({ ...at(0), completed: '' });
    let next = 1;
    /** Each stays apart from the one before by a message that is not done. */
    async function finish(messages: number) {
      const before = written.length;
      for (let count = 0; count < messages; count += 1) {
        checkpoints.begin(at(next));
        checkpoints.end(checkpoints.begin(at(next + 1)));
        next += 100;
        await vi.advanceTimersByTimeAsync(0);
      }
      return written.length - before;
    }
    expect(await finish(1_000)).toBe(100);
    await finish(1_000);
    await checkpoints.flush();
    expect([await finish(15), await finish(15), await finish(190)]).toEqual([
      0,
      1,
      expect.toSatisfy((one) => one < 10),
    ]);
    await checkpoints.flush();
    await finish(1);
    const before = written.length;
    await vi.advanceTimersByTimeAsync(everyMs);
    expect(written.length).toBe(before + 1);
  });

  it('that cannot be written because nothing is safe yet is not waited for', async () => {
    const { checkpoints, written } = setUp();
    checkpoints.begin(at(1));
    checkpoints.end(checkpoints.begin(at(2)));
    await checkpoints.flush();
    expect(written).toEqual([]);
  });
});
