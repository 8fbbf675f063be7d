import { TooLate, within } from '../../concurrency/waiting.ts';
import type { ReadingDiagnosis } from '../../observing/diagnosis.ts';
import type { Troubles } from '../../observing/log.ts';
import type { PartitionSession, SessionState } from './assignment.ts';
import type { PartitionSessions } from './assignments.ts';
import type { EventHubConnection, EventHubConnectionOptions } from './connection.ts';
import { type ReadingTroubles, wholeHub } from './readingTroubles.ts';
import type { LastRound } from './rebalance.ts';

interface HubWatchOptions extends Pick<EventHubConnectionOptions, 'silentMs' | 'log'> {
  readonly answerMs: number;
  readonly roundMs: number;
  readonly allTroubles: Pick<Troubles, 'raise'>;
}

/** The hub is asked for the newest event of each partition in every second round. */
const roundsBetweenQuestions = 2;
/** Time without events of a partition of which the hub has more. */
const withheldMs = 60_000;
/** The hub answers a question much sooner. */
const patienceMs = 5_000;
/** Time without events of any partition: devices may send nothing, or the address of the hub may have changed. */
const idleMs = 5 * 60_000;

/** What the hub has said of one partition. Times are as `performance.now()`. */
interface Query {
  at: number;
  isOpen: boolean;
  /** The sequence number of its newest event, -1 when it has none, and when the hub said so. */
  answer: { readonly newest: number; readonly at: number } | undefined;
  hasFailed: boolean;
  /** When the first question after its last answer was asked. */
  unansweredSince: number | undefined;
  /** When the first of the questions was asked that the hub has left without any answer; undefined when it answers. */
  silentSince: number | undefined;
}

/** Compares what the hub has with what it delivers, and connects again when it has fallen silent (D38). */
export function createHubWatch(
  connection: EventHubConnection,
  sessions: Pick<PartitionSessions, 'all' | 'reading'>,
  { answerMs, roundMs, silentMs, log, allTroubles }: HubWatchOptions,
) {
  const everyMs = roundMs * roundsBetweenQuestions;
  /** By the partitions of which the hub is asked (facts reading.partition-info, reading.questions). */
  const queries = new Map<string, Query>();

  async function ask(partition: string, query: Query): Promise<void> {
    query.at = performance.now();
    query.isOpen = true;
    query.unansweredSince ??= query.at;
    try {
      const answer = connection.client().getPartitionProperties(partition);
      const { lastEnqueuedSequenceNumber, isEmpty } = await within(answer, answerMs);
      // The retention empties a partition, and its number stays.
      query.answer = { newest: isEmpty ? -1 : lastEnqueuedSequenceNumber, at: performance.now() };
      query.hasFailed = false;
      query.silentSince = undefined;
      query.unansweredSince = undefined;
    } catch (error) {
      query.hasFailed = true;
      query.silentSince = error instanceof TooLate ? (query.silentSince ?? query.at) : undefined;
      log.debug({ err: error, partition }, 'cannot ask the hub for its newest event');
    } finally {
      query.isOpen = false;
    }
  }

  const unasked = { hasFailed: false, answer: undefined, silentSince: undefined, unansweredSince: undefined };

  /** After a failure it asks again in the next round, so that the end of an outage shows soon. */
  const isDue = ({ isOpen, hasFailed, at }: Query) => !isOpen && (hasFailed || performance.now() - at >= everyMs);

  /** Asks about each of these partitions for which that is due, and forgets all others. */
  function askAll(partitions: readonly string[]) {
    for (const partition of queries.keys()) if (!partitions.includes(partition)) queries.delete(partition);
    for (const partition of partitions) {
      const query = queries.get(partition) ?? { at: Number.NEGATIVE_INFINITY, isOpen: false, ...unasked };
      queries.set(partition, query);
      if (isDue(query)) void ask(partition, query);
    }
  }

  const eventlessMs = ({ reader }: PartitionSession) => reader.quietMs('subscribed', 'event');
  const newestOf = (partition: string) => queries.get(partition)?.answer?.newest ?? -1;
  const isWithheld = (one: PartitionSession) =>
    eventlessMs(one) > withheldMs && newestOf(one.record.partition) > one.position();

  /**
   * Whether events come, or the hub has confirmed that there are none. The client reports an open link without asking the hub: that counts
   * for nothing after a question without an answer, until there is one, or an event.
   */
  function isHeard(partition: string): boolean {
    const session = sessions.all().find(({ record }) => record.partition === partition);
    if (session === undefined || !session.reader.isHeard()) return false;
    const unansweredSince = queries.get(partition)?.silentSince ?? Number.NEGATIVE_INFINITY;
    return session.reader.quietMs('heard') <= silentMs && eventlessMs(session) <= performance.now() - unansweredSince;
  }

  return {
    /** Called in each round. Never waits, never throws. */
    look() {
      const reading = sessions.reading();
      connection.revive(reading);
      askAll(sessions.all().map(({ record }) => record.partition));
      const withheld = reading.filter(isWithheld).map(({ record }) => record.partition);
      if (withheld.length > 0) {
        const message = 'the hub has events that do not come: connecting again';
        allTroubles.raise('events that do not come', { level: 'warn', message, fields: { partitions: withheld } });
      }
      const isIdle = reading.length > 0 && reading.every((session) => eventlessMs(session) > idleMs);
      if (withheld.length > 0 || isIdle) connection.reconnect(reading);
    },
    isHeard,
    /** Asks the hub about each partition of which it was not asked after this moment. */
    askAfter(time: number) {
      for (const [partition, query] of queries) if (query.at <= time && !query.isOpen) void ask(partition, query);
    },
    /** Whether nothing has come from the hub after this moment, and all that it was asked waits for longer than it takes to answer. */
    isSilentSince(time: number): boolean {
      const now = performance.now();
      const isLeftOpen = ({ unansweredSince = now }: Query) => now - unansweredSince > patienceMs;
      const hasCome = (session: PartitionSession) => eventlessMs(session) < now - time;
      return [...queries.values()].every(isLeftOpen) && !sessions.all().some(hasCome);
    },
    /** What the hub has said of a partition that is read, and whether it delivers, and has answered the last question about it. */
    saidOf(partition: string) {
      const { answer, hasFailed = false } = queries.get(partition) ?? {};
      return { answer, isAnswering: isHeard(partition) && !hasFailed };
    },
  };
}

export type PartitionState = ReturnType<typeof partitionStateOf>;

export function partitionStateOf(
  session: Pick<PartitionSession, 'record' | 'since' | 'position' | 'contents' | 'state'>,
  { answer, isAnswering }: ReturnType<ReturnType<typeof createHubWatch>['saidOf']>,
) {
  const { partition, epoch } = session.record;
  const state: 'reading' | 'draining' = session.state() === 'reading' ? 'reading' : 'draining';
  const position = session.position();
  const { undoneSince, ...contents } = session.contents();
  const rest = answer !== undefined && answer.newest <= position ? 0 : null;
  const behind = undoneSince === undefined ? rest : (performance.now() - undoneSince) / 1000;
  return {
    ...{ partition, state, epoch },
    /** When the session began, as `performance.now()`. */
    since: session.since,
    /** Sequence number of the last event read; -1 before the first. */
    position,
    /** When the hub last answered about the partition (D310), as `performance.now()`; undefined before the first time. */
    asOf: answer?.at,
    /** The age of the oldest event that is not done; 0 when the last one is done. Null while the hub does not answer, or the age is not known yet. */
    behindSeconds: isAnswering ? behind : null,
    ...contents,
  };
}

/** See Consumer; for what cannot be read because of the checkpoint store, a text that says why. */
export function missingOf(
  { owned, isAllElsewhere, storeTrouble }: Pick<LastRound, 'owned' | 'isAllElsewhere' | 'storeTrouble'>,
  isHeard: (partition: string) => boolean,
  stateOf: (partition: string) => SessionState | undefined,
  troubleOf: ReadingTroubles['of'],
): string[] {
  const isEnding = (partition: string) => ['draining', 'revoked'].includes(stateOf(partition) ?? '');
  if (isAllElsewhere) return [];
  const ofStore = storeTrouble && `the checkpoint store: ${storeTrouble.storeSaid} (${storeTrouble.setting})`;
  if (owned.length === 0) {
    if (ofStore) return [ofStore];
    const trouble = troubleOf(wholeHub);
    return [`a partition of the hub to read${trouble ? `: ${why(trouble)}` : ''}`];
  }
  return owned
    .filter((partition) => !isEnding(partition) && !isHeard(partition))
    .toSorted((one, other) => one.length - other.length || (one < other ? -1 : 1)) // numbers; ICU would take 12 ms of a start
    .map((partition) => {
      const trouble = troubleOf(partition);
      return `partition ${partition} of the hub: ${trouble ? why(trouble) : (ofStore ?? 'no sign of life yet')}`;
    });
}

const why = ({ hubSaid, setting, todo }: ReadingDiagnosis) => `${hubSaid} (${setting ?? todo})`;

export function silentMsAt(
  now: number,
  { answeredAt, unreadSince }: Pick<LastRound, 'answeredAt' | 'unreadSince'>,
  unansweredMs: readonly number[],
): number {
  if (unansweredMs.length === 0) return now - answeredAt;
  return Math.max(unreadSince === undefined ? 0 : now - unreadSince, ...unansweredMs);
}
