import { describe, expect, it, vi } from 'vitest';
import { createHubWatch } from '../../src/hub/reading/hubWatch.ts';
import { createTroubles } from '../../src/log/troubles.ts';
import { recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { silence } from './support/replying.ts';

// When silence of the hub is a fault (D38).

withFakeTimers();

/** Two partitions are read up to 7. */
const partition = (eventlessSeconds: number, newest = 7) => ({ eventlessSeconds, newest });

it.each([
  ['a minute without events of a partition of which the hub has more', [partition(61, 8), partition(1)], ['0']],
  ['five minutes without events of all', [partition(301), partition(301)], []],
  ['no minute', [partition(59, 8), partition(1)], undefined],
  ['a minute without events of which the hub has none', [partition(61), partition(1)], undefined],
  ['five minutes without events of one', [partition(301), partition(299)], undefined],
  ['nothing to read', [], undefined],
])('it is connected again, or not, after %s', async (_, partitions, withheld) => {
  const log = recordingLog();
  const allTroubles = createTroubles(log);
  const reconnect = vi.fn();
  const connection = {
    ...{ revive() {}, reconnect },
    client: () => ({
      getPartitionProperties: async (id: string) => ({ lastEnqueuedSequenceNumber: partitions[Number(id)]?.newest }),
    }),
  };
  const sessions = partitions.map(({ eventlessSeconds }, index) => ({
    ...{ record: { partition: String(index) }, position: () => 7 },
    reader: { quiet: () => ({ eventlessMs: eventlessSeconds * 1_000 }) },
  }));
  const watch = createHubWatch(connection as never, { all: () => sessions, reading: () => sessions } as never, {
    ...{ answerMs: 20_000, everyMs: 10_000, silentMs: 11_000, log: silence, allTroubles },
  });
  watch.look();
  await vi.advanceTimersByTimeAsync(5_000);
  reconnect.mockClear(); // only now the hub has said what it has
  watch.look();
  expect([reconnect.mock.calls.length, log.lines.map(({ fields }) => fields)]).toEqual([
    withheld === undefined ? 0 : 1,
    withheld?.length ? [{ partitions: withheld }] : [],
  ]);
  allTroubles.close();
});

/** A watch over a hub that answers when the test says so, and delivers, as far as can be seen. */
function setUp() {
  type Properties = { readonly lastEnqueuedSequenceNumber: number };
  const questions: { partition: string; answer: (newest: number) => void; fail: (error: Error) => void }[] = [];
  const failures: string[] = [];
  const read = ['0', '1'];
  const getPartitionProperties = (partition: string) =>
    new Promise<Properties>((answer, fail) =>
      questions.push({ partition, answer: (newest) => answer({ lastEnqueuedSequenceNumber: newest }), fail }),
    );
  let lastEvent = performance.now();
  const reader = {
    isHeard: () => true,
    quiet: () => ({ deafMs: 0, eventlessMs: performance.now() - lastEvent }),
  };
  const all = () => read.map((partition) => ({ record: { partition }, reader }));
  const watch = createHubWatch(
    { revive() {}, reconnect() {}, client: () => ({ getPartitionProperties }) } as never,
    { all, reading: () => [] } as never,
    {
      ...{ answerMs: 20_000, everyMs: 10_000, silentMs: 11_000, allTroubles: { raise() {} } },
      log: {
        ...silence,
        debug: ({ err, partition }: { err?: Error; partition?: string }) => failures.push(`${partition}: ${err?.name}`),
      },
    },
  );
  const hears = () => {
    lastEvent = performance.now();
  };
  return { ...watch, read, questions, failures, hears, asked: () => questions.map(({ partition }) => partition) };
}

const soon = () => vi.advanceTimersByTimeAsync(0);

describe('the hub’s newest event', () => {
  it('is unknown before the first answer, and then that of the last one', async () => {
    const { look, saidOf, read, questions } = setUp();
    read.pop();
    look();
    expect(saidOf('0').answer).toBeUndefined();
    questions[0]?.answer(41);
    await soon();
    expect(saidOf('0').answer).toEqual({ newest: 41, at: performance.now() });
    const before = performance.now();
    await vi.advanceTimersByTimeAsync(10_000);
    look();
    expect(saidOf('0').answer).toEqual({ newest: 41, at: before });
    questions[1]?.answer(57);
    await soon();
    expect(saidOf('0').answer).toEqual({ newest: 57, at: performance.now() });
  });

  it('is asked for every ten seconds, however often it is read', async () => {
    const { look, questions, asked } = setUp();
    for (let second = 0; second < 20; second += 1) {
      look();
      for (const { answer } of questions) answer(1);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(asked()).toEqual(['0', '1', '0', '1']);
  });

  it('is not asked for twice while the hub may still answer, and soon again when it did not answer', async () => {
    const { look, read, asked, failures } = setUp();
    read.pop();
    look();
    await vi.advanceTimersByTimeAsync(19_999);
    look();
    expect([asked(), failures]).toEqual([['0'], []]);
    await vi.advanceTimersByTimeAsync(1);
    expect(failures).toEqual(['0: TooLate']);
    look();
    expect(asked()).toEqual(['0', '0']);
  });

  it('is unknown while questions fail: nothing is heard since the first one without an answer', async () => {
    const { look, isHeard, saidOf, read, questions } = setUp();
    read.pop();
    const seen = () => [saidOf('0').isAnswering, isHeard('0'), saidOf('0').answer?.newest];
    expect(seen()).toEqual([true, true, undefined]);
    look();
    questions[0]?.answer(41);
    await soon();
    expect(seen()).toEqual([true, true, 41]);
    await vi.advanceTimersByTimeAsync(10_000);
    look();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(seen()).toEqual([false, false, 41]);
    look();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(seen()).toEqual([false, false, 41]);
    look();
    questions[3]?.fail(new Error('refused'));
    await soon();
    expect(seen()).toEqual([false, true, 41]);
    look();
    questions[4]?.answer(42);
    await soon();
    expect(seen()).toEqual([true, true, 42]);
  });

  it('is removed with its partition, also when the answer comes later', async () => {
    const { look, saidOf, read, questions } = setUp();
    look();
    questions[0]?.answer(7);
    await soon();
    read.splice(0);
    look();
    questions[1]?.answer(8);
    await soon();
    expect([saidOf('0').answer, saidOf('1').answer]).toEqual([undefined, undefined]);
  });
});

it('A partition is heard after an event that came later than the question that the hub has left unanswered', async () => {
  const { look, isHeard, read, hears } = setUp();
  read.pop();
  await vi.advanceTimersByTimeAsync(1);
  look();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(isHeard('0')).toBe(false);
  hears();
  expect(isHeard('0')).toBe(true);
});
