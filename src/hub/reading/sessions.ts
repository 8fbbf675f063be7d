import { within } from '../../concurrency/waiting.ts';
import type { DeviceEvent } from '../../engine/partition/intake.ts';
import { noMeter } from '../../metrics/meter.ts';
import { diagnosisOf, storeFieldsOf } from '../../observing/diagnosis.ts';
import type { Ownership } from '../stores/checkpointStore.ts';
import type { EventHubConnection } from './eventHubConnection.ts';
import type { Ownerships } from './ownerships.ts';
import type { ReadingTroubles } from './readingTroubles.ts';
import type { PartitionSession } from './session.ts';
import { createSessionLife, type Revocation, type SessionLife, type SessionState } from './sessionLife.ts';
import { createSessionOpener, type SessionOpenerOptions } from './sessionOpener.ts';

/** The partition sessions of this instance, one for each partition that it reads. */
export interface PartitionSessions {
  /** Sessions that read or drain. */
  all(): readonly PartitionSession[];
  /** Sessions that read. */
  reading(): readonly PartitionSession[];
  /** Of the session of the partition; undefined when there is none. */
  stateOf(partition: string): SessionState | undefined;
  /**
   * Begins a session of a partition that this instance owns. Does not reject when the hub refuses, or when the
   * checkpoint is damaged or belongs to another hub: the troubles report that. After any other failure the caller tries again.
   * @param begun as the last owner wrote it in its release (D10)
   * @param afterUncleanShutdown the last owner has not released the partition (G4)
   */
  open(record: Ownership, begun: number | undefined, afterUncleanShutdown?: boolean): Promise<void>;
  /** Revokes the sessions of partitions that belong to another instance, according to these records. */
  revokeLost(records: readonly Ownership[]): void;
  /** Revokes all sessions, also those of partitions that this instance still owns, and returns their partitions. */
  revokeAll(): readonly string[];
  /** Drains a session and releases its partition. When the release fails, this instance still owns the partition, unread. Never rejects. */
  release(partition: string): Promise<void>;
  /** Messages that sessions had read and not done when they ended, after this moment, and that are not read here again. */
  leftSince(moment: number): number;
  /** Opens no more sessions and releases all partitions. Ends soon after the drain limit, also when something hangs. */
  releaseAll(): Promise<void>;
}

export interface PartitionSessionsOptions<A extends DeviceEvent> extends SessionOpenerOptions<A> {
  readonly drainMs: number;
  readonly troubles: ReadingTroubles;
}

/** The longest that the release of a partition may take beyond its drain, when the service stops. */
const releaseWithinMs = 10_000;

export function createPartitionSessions<A extends DeviceEvent>(
  connection: Pick<EventHubConnection, 'client'>,
  ownerships: Pick<Ownerships, 'release'>,
  options: PartitionSessionsOptions<A>,
): PartitionSessions {
  const { log, drainMs, troubles, meter = noMeter } = options;
  const countBegun = meter.counter('device_messaging.sessions.begun');
  const countEnded = meter.counter('device_messaging.sessions.ended');
  /** A session is removed when it has ended. */
  const entries = new Map<string, 'opening' | SessionLife>();
  /** Partitions claimed after an unclean shutdown that their checkpoints do not count yet. */
  const uncounted = new Set<string>();
  /** What the last session of a partition left undone, and when, as `performance.now()`. */
  const left = new Map<string, { readonly messages: number; readonly at: number }>();
  let isStopping = false;
  const opening = createSessionOpener(connection, options, {
    heard(partition) {
      troubles.clear(partition);
      left.delete(partition);
    },
    failed(partition, diagnosis) {
      troubles.raise(partition, diagnosis);
      // The next round reads the checkpoint again; an operator may have removed it by then.
      if (diagnosis.refusesPosition) revoke(partition, 'refused');
    },
    noticed: logLost,
    revoke,
  });

  function logLost(partition: string, noticedBy: 'hub' | 'ownership record' | 'checkpoint') {
    log.warn({ partition, noticedBy }, 'another instance reads this partition now');
  }

  const notReleased = (error: unknown) =>
    log.warn({ err: error, ...storeFieldsOf(error) }, 'a partition was not released');

  function lifeOf(partition: string): SessionLife | undefined {
    const entry = entries.get(partition);
    return entry === 'opening' ? undefined : entry;
  }

  const stateOf = (partition: string) => lifeOf(partition)?.state() ?? (entries.has(partition) ? 'opening' : undefined);

  const inState = (...states: readonly SessionState[]) =>
    [...entries.values()].flatMap((entry) =>
      entry !== 'opening' && states.includes(entry.state()) ? entry.session : [],
    );
  const all = () => inState('reading', 'draining');

  async function beginToRead(record: Ownership, begun: number | undefined): Promise<void> {
    const { partition } = record;
    const afterUncleanShutdown = uncounted.has(partition);
    const progress = isStopping ? undefined : await opening.startOf(record, afterUncleanShutdown);
    if (progress !== undefined) uncounted.delete(partition);
    if (isStopping || progress === undefined) return ownerships.release(record, begun);
    const session = opening.begin(record, begun, progress);
    const life = createSessionLife(session, {
      drainMs,
      releaseOwnership: (newest) => ownerships.release(record, newest),
      ended: countEnded,
      released: (unfinished) => log.info({ partition, unfinished }, 'partition released'),
      notReleased,
      gone() {
        entries.delete(partition);
        left.set(partition, { messages: session.pending(), at: performance.now() });
      },
    });
    entries.set(partition, life);
    countBegun();
  }

  function revoke(partition: string, reason: Revocation): void {
    lifeOf(partition)?.revoke(reason);
  }

  const release = async (partition: string) => lifeOf(partition)?.release();

  return {
    all,
    reading: () => inState('reading'),
    stateOf,
    async open(record, begun, afterUncleanShutdown) {
      const { partition } = record;
      entries.set(partition, 'opening');
      if (afterUncleanShutdown === true) uncounted.add(partition);
      if (afterUncleanShutdown === false) uncounted.delete(partition);
      try {
        await beginToRead(record, begun);
      } catch (error) {
        const diagnosis = diagnosisOf(error);
        if (diagnosis === undefined) throw error;
        troubles.raise(partition, diagnosis);
        if (!diagnosis.isAnswer) throw error;
      } finally {
        if (entries.get(partition) === 'opening') entries.delete(partition);
      }
    },
    revokeLost(records) {
      const own = new Map(all().map(({ record }) => [record.partition, record]));
      for (const record of records) {
        if (!isLost(own.get(record.partition), record)) continue;
        logLost(record.partition, 'ownership record');
        revoke(record.partition, 'lost');
      }
    },
    revokeAll() {
      const partitions = all().map(({ record }) => record.partition);
      for (const partition of partitions) revoke(partition, 'stood_still');
      return partitions;
    },
    release,
    leftSince: (moment) => [...left.values()].reduce((sum, { messages, at }) => sum + (at >= moment ? messages : 0), 0),
    async releaseAll() {
      isStopping = true;
      const inTime = (partition: string) => within(release(partition), drainMs + releaseWithinMs);
      await Promise.all([...entries.keys()].map((partition) => inTime(partition).catch(notReleased)));
    },
  };
}

/** @param own the record under which a session reads or drains */
const isLost = (own: Ownership | undefined, { owner, epoch }: Ownership): boolean =>
  own !== undefined && !(own.owner === owner && own.epoch === epoch);
