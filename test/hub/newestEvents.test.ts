import { describe, expect, it, vi } from 'vitest';
import { createNewestEvents } from '../../src/hub/reading/newestEvents.ts';
import { withFakeTimers } from '../support/fakeTimers.ts';

withFakeTimers();

/** A hub that answers when the test says so. */
function setUp() {
  const questions: { partition: string; answer: (newest: number) => void; fail: (error: Error) => void }[] = [];
  const failures: string[] = [];
  const newest = createNewestEvents({
    newestOf: (partition) =>
      new Promise((answer, fail) => {
        questions.push({ partition, answer, fail });
      }),
    answerMs: 20_000,
    couldNotAsk: (partition, error) => failures.push(`${partition}: ${error instanceof Error ? error.name : ''}`),
  });
  const asked = () => questions.map(({ partition }) => partition);
  return { newest, questions, asked, failures };
}

const soon = () => vi.advanceTimersByTimeAsync(0);

describe('the hub’s newest event', () => {
  it('is unknown before the first answer, and then what the hub said last', async () => {
    const { newest, questions } = setUp();
    newest.look(['0']);
    expect(newest.of('0')).toBeUndefined();
    questions[0]?.answer(41);
    await soon();
    expect(newest.of('0')).toBe(41);
    await vi.advanceTimersByTimeAsync(30_000);
    newest.look(['0']);
    expect(newest.of('0')).toBe(41);
    questions[1]?.answer(57);
    await soon();
    expect(newest.of('0')).toBe(57);
  });

  it('is asked for every thirty seconds, however often somebody looks', async () => {
    const { newest, questions, asked } = setUp();
    for (let second = 0; second < 60; second += 1) {
      newest.look(['0', '1']);
      for (const { answer } of questions) answer(1);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(asked()).toEqual(['0', '1', '0', '1']);
  });

  it('is not asked for twice at once, though the hub is silent for longer than it may be', async () => {
    const { newest, questions, asked, failures } = setUp();
    newest.look(['0']);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(failures).toEqual(['0: TooLate']);
    await vi.advanceTimersByTimeAsync(60_000);
    newest.look(['0']);
    expect(asked()).toEqual(['0']);
    questions[0]?.fail(new Error('connection lost'));
    await soon();
    newest.look(['0']);
    expect(asked()).toEqual(['0', '0']);
    expect(failures).toEqual(['0: TooLate']);
  });

  it('is forgotten with its partition, also when the answer comes later', async () => {
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
