import { TooLate, within } from '../../concurrency/within.ts';
import type { PartitionContents } from '../../engine/partition/contents.ts';
import type { Log } from '../../log/log.ts';
import type { Troubles } from '../../log/troubles.ts';
import type { EventHubConnection } from './eventHubConnection.ts';
import type { QuietTimes } from './reader.ts';
import type { ReadingDiagnosis } from './readingDiagnosis.ts';
import { wholeHub } from './readingTroubles.ts';
import type { LastRound } from './rounds.ts';
import type { PartitionSession } from './session.ts';
import type { PartitionSessions } from './sessions.ts';

interface HubWatchOptions {
  readonly answerMs: number;
  /** Interval of the questions for the newest event of each partition. */
  readonly everyMs: number;
  readonly silentMs: number;
  readonly log: Log;
  readonly allTroubles: Pick<Troubles, 'raise'>;
}

/** Time without events of a partition of which the hub has more. */
const withheldMs = 60_000;
/** Time without events of any partition: devices may send nothing, or the address of the hub may have changed. */
const idleMs = 5 * 60_000;

/** Compares what the hub has with what it delivers, and connects again when it has fallen silent (D38). */
export function createHubWatch(
  connection: EventHubConnection,
  sessions: Pick<PartitionSessions, 'all' | 'reading'>,
  { answerMs, everyMs, silentMs, log, allTroubles }: HubWatchOptions,
) {
  const newest = createNewestEvents({
    async newestOf(partition) {
      const { lastEnqueuedSequenceNumber, isEmpty } = await connection.client().getPartitionProperties(partition);
      return isEmpty ? -1 : lastEnqueuedSequenceNumber; // the retention empties a partition, and its number stays
    },
    ...{ everyMs, answerMs },
    couldNotAsk: (partition, error) => log.debug({ err: error, partition }, 'cannot ask the hub for its newest event'),
  });

  const isWithheld = ({ record, position, reader }: PartitionSession) =>
    reader.quiet().eventlessMs > withheldMs && (newest.of(record.partition)?.newest ?? -1) > position();

  /**
   * Whether the hub delivers events of the partition, or has recently confirmed that there are none. The client reports an open
   * link without asking the hub: so it counts for nothing after a question that the hub has left unanswered, until there is an
   * answer or an event.
   */
  function isHeard(partition: string): boolean {
    const reader = sessions.all().find(({ record }) => record.partition === partition)?.reader;
    if (reader === undefined || !reader.isHeard()) return false;
    const { deafMs, eventlessMs } = reader.quiet();
    return deafMs <= silentMs && eventlessMs <= (newest.silentMs(partition) ?? Number.POSITIVE_INFINITY);
  }

  return {
    /** Called in each round. Never waits, never throws. */
    look() {
      const reading = sessions.reading();
      connection.revive(reading);
      newest.look(sessions.all().map(({ record }) => record.partition));
      const withheld = reading.filter(isWithheld).map(({ record }) => record.partition);
      if (withheld.length > 0) {
        const message = 'the hub has events that do not come: connecting again';
        allTroubles.raise('events that do not come', { level: 'warn', message, fields: { partitions: withheld } });
      }
      const isIdle = reading.length > 0 && reading.every(({ reader }) => reader.quiet().eventlessMs > idleMs);
      if (withheld.length > 0 || isIdle) connection.reconnect(reading);
    },
    isHeard,
    saidOf: (partition: string): HubSays => ({
      answer: newest.of(partition),
      isAnswering: isHeard(partition) && !newest.hasFailed(partition),
    }),
  };
}

/** What the hub has said about a partition. */
interface HubAnswer {
  /** Sequence number of its newest event; -1 when it has none. */
  readonly newest: number;
  /** As `performance.now()`. */
  readonly at: number;
}

interface NewestEventsOptions {
  /** Asks the hub for the sequence number. */
  readonly newestOf: (partition: string) => Promise<number>;
  /** Interval of the questions while the hub answers: it limits them, for all clients together. */
  readonly everyMs: number;
  /** The longest that one answer may take. */
  readonly answerMs: number;
  couldNotAsk(partition: string, error: unknown): void;
}

/** What is known of one partition. */
interface PartitionQuery {
  at: number;
  isOpen: boolean;
  answer: HubAnswer | undefined;
  hasFailed: boolean;
  silentSince: number | undefined;
}

/** The hub's newest event of each partition, as of its last answer (facts reading.partition-info, reading.questions). */
export function createNewestEvents({ newestOf, everyMs, answerMs, couldNotAsk }: NewestEventsOptions) {
  const asked = new Map<string, PartitionQuery>();

  async function ask(partition: string, one: PartitionQuery): Promise<void> {
    one.at = performance.now();
    one.isOpen = true;
    try {
      const newest = await within(newestOf(partition), answerMs);
      one.answer = { newest, at: performance.now() };
      one.hasFailed = false;
      one.silentSince = undefined;
    } catch (error) {
      one.hasFailed = true;
      one.silentSince = error instanceof TooLate ? (one.silentSince ?? one.at) : undefined;
      couldNotAsk(partition, error);
    } finally {
      one.isOpen = false;
    }
  }

  /** After a failure it asks again in the next round, so that the end of an outage shows soon. */
  const isDue = ({ isOpen, hasFailed, at }: PartitionQuery) =>
    !isOpen && (hasFailed || performance.now() - at >= everyMs);

  const unasked = (): PartitionQuery => ({
    ...{ at: Number.NEGATIVE_INFINITY, isOpen: false, hasFailed: false },
    ...{ answer: undefined, silentSince: undefined },
  });

  return {
    /** Asks the hub about each of these partitions for which that is due, and forgets all others. Never throws. */
    look(partitions: readonly string[]) {
      for (const partition of asked.keys()) if (!partitions.includes(partition)) asked.delete(partition);
      for (const partition of partitions) {
        const one = asked.get(partition) ?? unasked();
        asked.set(partition, one);
        if (isDue(one)) void ask(partition, one);
      }
    },
    /** The last answer; undefined before the first. */
    of: (partition: string) => asked.get(partition)?.answer,
    /** Whether the last question has failed. */
    hasFailed: (partition: string) => asked.get(partition)?.hasFailed ?? false,
    /** Milliseconds since the first of the questions that the hub has left without any answer; undefined when it answers. */
    silentMs(partition: string): number | undefined {
      const since = asked.get(partition)?.silentSince;
      return since === undefined ? undefined : performance.now() - since;
    },
  };
}

/** What one partition session of this instance does, for operators. */
export interface PartitionState extends Omit<PartitionContents, 'undoneSince'>, Behind {
  readonly partition: string;
  readonly state: 'reading' | 'draining';
  readonly epoch: number;
  /** When the session began, as `performance.now()`. */
  readonly since: number;
  /** Sequence number of the last event read; -1 before the first. */
  readonly position: number;
}

/** How far a partition is behind: one figure, and how old it is (D310). */
interface Behind {
  /**
   * Age of the oldest event that is not done, read or not; 0 when the last one is done. Null while the hub does not answer,
   * and while all that was read is done, more is there, and its age is not known yet.
   */
  readonly behindSeconds: number | null;
  /** When the hub last answered about the partition, as `performance.now()`; undefined before the first time. */
  readonly asOf: number | undefined;
}

/** What the hub has said of a partition that is read. */
interface HubSays {
  readonly answer: HubAnswer | undefined;
  /** The hub delivers, and has answered the last question about the partition. */
  readonly isAnswering: boolean;
}

export function partitionStateOf(
  session: Pick<PartitionSession, 'record' | 'since' | 'position' | 'contents'>,
  state: PartitionState['state'],
  said: HubSays,
): PartitionState {
  const { partition, epoch } = session.record;
  const position = session.position();
  const { undoneSince, ...rest } = session.contents();
  const behind = behindOf({ ...said, undoneSince, position });
  return { partition, state, epoch, since: session.since, position, ...behind, ...rest };
}

interface Known extends HubSays {
  /** When the hub received the oldest event that is known not to be done, as `performance.now()`. */
  readonly undoneSince: number | undefined;
  /** All events up to this sequence number are done, apart from those that `undoneSince` is about. */
  readonly position: number;
}

export function behindOf({ answer, isAnswering, undoneSince, position }: Known): Behind {
  const known = { asOf: answer?.at };
  if (!isAnswering) return { ...known, behindSeconds: null };
  if (undoneSince !== undefined) return { ...known, behindSeconds: (performance.now() - undoneSince) / 1000 };
  return { ...known, behindSeconds: answer !== undefined && answer.newest <= position ? 0 : null };
}

interface Readings {
  /** Whether the hub delivers events of the partition, or has recently confirmed that there are none. */
  isHeard(partition: string): boolean;
  /** Whether its session ends: it need not be heard any more. */
  isEnding(partition: string): boolean;
  /** Of a partition, or of the whole hub. */
  troubleOf(place: string): ReadingDiagnosis | undefined;
}

/**
 * For an operator: a text for each owned partition from which the hub delivers nothing, or one that says that there is
 * no partition to read; for what cannot be read because of the checkpoint store, one that says why. Empty when other
 * instances read all partitions.
 */
export function missingOf(
  { owned, isAllElsewhere, storeTrouble }: Pick<LastRound, 'owned' | 'isAllElsewhere' | 'storeTrouble'>,
  { isHeard, isEnding, troubleOf }: Readings,
): string[] {
  if (isAllElsewhere) return [];
  const ofStore = storeTrouble && `the checkpoint store: ${storeTrouble.storeSaid} (${storeTrouble.setting})`;
  if (owned.length === 0) {
    if (ofStore) return [ofStore];
    const trouble = troubleOf(wholeHub);
    return [`a partition of the hub to read${trouble ? `: ${why(trouble)}` : ''}`];
  }
  return owned
    .filter((partition) => !isEnding(partition) && !isHeard(partition))
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
    .map((partition) => {
      const trouble = troubleOf(partition);
      return `partition ${partition} of the hub: ${trouble ? why(trouble) : (ofStore ?? 'no sign of life yet')}`;
    });
}

const why = ({ hubSaid, setting, todo }: ReadingDiagnosis) => `${hubSaid} (${setting ?? todo})`;

/**
 * Milliseconds for which the hub has not answered for some partition that is read, or for which some owned partition
 * could not be opened; while none is read, since the last complete round.
 */
export function silentMsAt(
  now: number,
  { answeredAt, unreadSince }: Pick<LastRound, 'answeredAt' | 'unreadSince'>,
  read: readonly Pick<QuietTimes, 'unansweredMs'>[],
): number {
  if (read.length === 0) return now - answeredAt;
  return Math.max(unreadSince === undefined ? 0 : now - unreadSince, ...read.map(({ unansweredMs }) => unansweredMs));
}
