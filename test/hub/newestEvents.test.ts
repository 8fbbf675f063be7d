import { describe, expect, it, vi } from 'vitest';
import { createNewestEvents } from '../../src/hub/reading/hubWatch.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

/** A hub that answers when the test says so. */
function setUp() {
  const questions: { partition: string; answer: (newest: number) => void; fail: (error: Error) => void }[] = [];
  const failures: string[] = [];
  const newest = createNewestEvents({
    newestOf: (partition) => new Promise((answer, fail) => questions.push({ partition, answer, fail })),
    everyMs: 10_000,
    answerMs: 20_000,
    couldNotAsk: (partition, error) => failures.push(`${partition}: ${error instanceof Error ? error.name : ''}`),
  });
  const asked = () => questions.map(({ partition }) => partition);
  return { newest, questions, asked, failures };
}

const soon = () => vi.advanceTimersByTimeAsync(0);

describe('the hub’s newest event', () => {
  it('is unknown before the first answer, and then that of the last one', async () => {
    const { newest, questions } = setUp();
    newest.look(['0']);
    expect(newest.of('0')).toBeUndefined();
    questions[0]?.answer(41);
    await soon();
    expect(newest.of('0')).toEqual({ newest: 41, at: performance.now() });
    const before = performance.now();
    await vi.advanceTimersByTimeAsync(10_000);
    newest.look(['0']);
    expect(newest.of('0')).toEqual({ newest: 41, at: before });
    questions[1]?.answer(57);
    await soon();
    expect(newest.of('0')).toEqual({ newest: 57, at: performance.now() });
  });

  it('is asked for every ten seconds, however often it is read', async () => {
    const { newest, questions, asked } = setUp();
    for (let second = 0; second < 20; second += 1) {
      newest.look(['0', '1']);
      for (const { answer } of questions) answer(1);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(asked()).toEqual(['0', '1', '0', '1']);
  });

  it('is not asked for twice while the hub may still answer, and soon again when it did not answer', async () => {
    const { newest, asked, failures } = setUp();
    newest.look(['0']);
    await vi.advanceTimersByTimeAsync(19_999);
    newest.look(['0']);
    expect([asked(), failures]).toEqual([['0'], []]);
    await vi.advanceTimersByTimeAsync(1);
    expect(failures).toEqual(['0: TooLate']);
    newest.look(['0']);
    expect(asked()).toEqual(['0', '0']);
  });

  it('is unknown while questions fail: the hub is silent since the first one without an answer', async () => {
    const { newest, questions } = setUp();
    const seen = () => [newest.hasFailed('0'), newest.silentMs('0'), newest.of('0')?.newest];
    expect(seen()).toEqual([false, undefined, undefined]);
    newest.look(['0']);
    questions[0]?.answer(41);
    await soon();
    expect(seen()).toEqual([false, undefined, 41]);
    await vi.advanceTimersByTimeAsync(10_000);
    newest.look(['0']);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(seen()).toEqual([true, 20_000, 41]);
    newest.look(['0']);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(seen()).toEqual([true, 40_000, 41]);
    newest.look(['0']);
    questions[3]?.fail(new Error('refused'));
    await soon();
    expect(seen()).toEqual([true, undefined, 41]);
    newest.look(['0']);
    questions[4]?.answer(42);
    await soon();
    expect(seen()).toEqual([false, undefined, 42]);
  });

  it('is removed with its partition, also when the answer comes later', async () => {
    const { newest, questions } = setUp();
    newest.look(['0', '1']);
    questions[0]?.answer(7);
    await soon();
    newest.look([]);
    questions[1]?.answer(8);
    await soon();
    expect([newest.of('0'), newest.of('1')]).toEqual([undefined, undefined]);
  });
});
