import { describe, expect, it, vi } from 'vitest';
import type { SessionState } from '../../src/hub/reading/assignment.ts';
import { createHubWatch, missingOf, partitionStateOf, silentMsAt } from '../../src/hub/reading/hubWatch.ts';
import { wholeHub } from '../../src/hub/reading/readingTroubles.ts';
import type { ReadingDiagnosis } from '../../src/observing/diagnosis.ts';
import { createTroubles } from '../../src/observing/log.ts';
import type { StoreDiagnosis } from '../../src/observing/storeFailure.ts';
import { recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { claimed } from './support/claims.ts';
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
    reader: { quietMs: () => eventlessSeconds * 1_000 },
  }));
  const given = { answerMs: 20_000, roundMs: 5_000, silentMs: 11_000, log: silence, allTroubles };
  const watch = createHubWatch(connection as never, { all: () => sessions, reading: () => sessions } as never, given);
  watch.look();
  await vi.advanceTimersByTimeAsync(5_000);
  reconnect.mockClear(); // only now the hub has said what it has
  watch.look();
  const expected = [withheld === undefined ? 0 : 1, withheld?.length ? [{ partitions: withheld }] : []];
  expect([reconnect.mock.calls.length, log.lines.map(({ fields }) => fields)]).toEqual(expected);
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
    quietMs: (...signs: readonly string[]) => (signs.includes('event') ? performance.now() - lastEvent : 0),
  };
  const all = () => read.map((partition) => ({ record: { partition }, reader }));
  const watch = createHubWatch(
    { revive() {}, reconnect() {}, client: () => ({ getPartitionProperties }) } as never,
    { all, reading: () => [] } as never,
    {
      ...{ answerMs: 20_000, roundMs: 5_000, silentMs: 11_000, allTroubles: { raise() {} } },
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

const momentAgo = (seconds: number) => performance.now() - seconds * 1000;

it.each<[string, { newest?: number; isAnswering?: boolean; undone?: number }, number | null]>([
  ['by the age of its oldest unfinished event, even if all events are read', { newest: 9, undone: 69 }, 69],
  ['by that age, also when there are unread events', { newest: 50, undone: 12 }, 12],
  ['by nothing when the last number is done', { newest: 9 }, 0],
  ['by nothing when the hub’s answer is older than what was read', { newest: 7 }, 0],
  ['by an unknown time while all read events are done and there are unread ones', { newest: 10 }, null],
  ['by an unknown time before the first answer', {}, null],
  ['by an unknown time while the hub does not answer', { newest: 9, isAnswering: false }, null],
  ['by an unknown time while the hub is silent, also with unfinished events', { isAnswering: false, undone: 5 }, null],
])('a partition is behind %s', (_, { newest, isAnswering = true, undone }, expected) => {
  const answer = newest === undefined ? undefined : { newest, at: 77 };
  const undoneSince = undone === undefined ? undefined : momentAgo(undone);
  const session = { record: claimed('me', 1), since: 0, position: () => 9, contents: () => ({ undoneSince }) };
  const state = partitionStateOf({ ...session, state: () => 'reading' } as never, { answer, isAnswering });
  expect(state).toMatchObject({ behindSeconds: expected, asOf: answer && 77 });
});

const refusal: ReadingDiagnosis = {
  ...{ cause: 'c', level: 'warn', hubSaid: 'no such group', setting: 'HUB_CONSUMER_GROUP', isAnswer: true },
  todo: 'create it',
};
const { setting: _, ...withoutSetting } = refusal;

describe('what is missing', () => {
  interface Circumstances {
    readonly owned?: readonly string[];
    readonly isAllElsewhere?: boolean;
    readonly heard?: readonly string[];
    readonly ending?: Readonly<Record<string, SessionState>>;
    readonly troubles?: Readonly<Record<string, ReadingDiagnosis>>;
    readonly storeTrouble?: StoreDiagnosis;
  }
  const storeTrouble = { setting: 'STORE_CONNECTION_STRING', storeSaid: '403 AuthenticationFailed', todo: 'mend it' };
  const ofStore = 'the checkpoint store: 403 AuthenticationFailed (STORE_CONNECTION_STRING)';

  it.each<[string, Circumstances, readonly string[]]>([
    ['is a partition before the first round', {}, ['a partition of the hub to read']],
    [
      'is a partition while the hub cannot be asked which it has, and why',
      { troubles: { [wholeHub]: refusal } },
      ['a partition of the hub to read: no such group (HUB_CONSUMER_GROUP)'],
    ],
    ['is the store when it does not say which partitions to read', { storeTrouble }, [ofStore]],
    [
      'is the store when it has no start of a partition, and the hub nothing against it',
      { owned: ['0', '1'], troubles: { 0: refusal }, storeTrouble },
      ['partition 0 of the hub: no such group (HUB_CONSUMER_GROUP)', `partition 1 of the hub: ${ofStore}`],
    ],
    ['is nothing while what is owned is heard, whatever is stored', { owned: ['0'], heard: ['0'], storeTrouble }, []],
    ['is nothing while others read all', { isAllElsewhere: true, troubles: { [wholeHub]: refusal } }, []],
    ['is nothing while all that is owned is heard', { owned: ['0', '1'], heard: ['0', '1'] }, []],
    ['is what is owned unheard', { owned: ['0', '1'], heard: ['0'] }, ['partition 1 of the hub: no sign of life yet']],
    [
      'is what the hub refuses, with the setting to look at',
      { owned: ['0'], troubles: { 0: refusal, 1: refusal } },
      ['partition 0 of the hub: no such group (HUB_CONSUMER_GROUP)'],
    ],
    [
      'is what the hub refuses, with what to do when no setting is known to be wrong',
      { owned: ['0'], troubles: { 0: withoutSetting } },
      ['partition 0 of the hub: no such group (create it)'],
    ],
    ['is not what is given away', { owned: ['0', '1'], heard: ['1'], ending: { 0: 'draining' } }, []],
    ['is nothing when all that is owned goes away', { owned: ['0', '1'], ending: { 0: 'draining', 1: 'revoked' } }, []],
  ])(
    '%s',
    (_, { owned = [], isAllElsewhere = false, heard = [], ending = {}, troubles = {}, storeTrouble }, expected) => {
      const isHeard = (partition: string) => heard.includes(partition);
      const stateOf = (partition: string) => ending[partition] ?? 'reading';
      const missing = missingOf({ owned, isAllElsewhere, storeTrouble }, isHeard, stateOf, (place) => troubles[place]);
      expect(missing).toEqual(expected);
    },
  );
});

it.each<[string, number | undefined, readonly number[], number]>([
  ['the last complete round while nothing is read, whatever is to be opened', 20, [], 60],
  ['the last answer of the partition that is silent for longest', undefined, [5, 30, 10], 30],
  ['when a partition could not be opened, while what is read is answered', 20, [5, 30], 80],
  ['the last answer that is longer ago than a partition could not be opened', 80, [5, 30], 30],
])('The hub is silent since %s', (_, unreadSince, unanswered, expected) => {
  expect(silentMsAt(100, { answeredAt: 40, unreadSince }, unanswered)).toBe(expected);
});
