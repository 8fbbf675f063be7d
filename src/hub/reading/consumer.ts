import { randomUUID } from 'node:crypto';
import { isSecret, whenChanged } from '../../access/secretFiles.ts';
import { createRepeating, within } from '../../concurrency/waiting.ts';
import type { DeviceEvent } from '../../engine/intake.ts';
import { ofHub, ofIdentity, type ReadingDiagnosis } from '../../observing/diagnosis.ts';
import { createTroubles } from '../../observing/log.ts';
import { createPartitionSessions, type PartitionSessionsOptions } from './assignments.ts';
import { type EventHubConnectionOptions, openEventHubConnection } from './connection.ts';
import { createHubWatch, missingOf, type PartitionState, partitionStateOf, silentMsAt } from './hubWatch.ts';
import { createLeases } from './leases.ts';
import { createReadingTroubles } from './readingTroubles.ts';
import { createPartitionIds, createRounds, type RoundLimits } from './rebalance.ts';

export type Consumer = ReturnType<typeof createConsumer>;

export interface ConsumerOptions<A extends DeviceEvent>
  extends Omit<EventHubConnectionOptions, 'troubles'>,
    Omit<PartitionSessionsOptions<A>, 'troubles' | 'allTroubles' | 'partitionIds'>,
    RoundLimits {
  /** Owner of its partitions in the ownership records; a random one when omitted. */
  readonly instance?: string;
  /** What a diagnosis means for the way in which the hub is read; as it is when omitted. */
  readonly told?: (found: ReadingDiagnosis) => ReadingDiagnosis;
}

/** Rounds in the time of one, while this instance waits for partitions that it has requested. */
const awaitingRounds = 5;
const roundEndsWithinMs = 2_000;

/** Reads this instance's share of the hub's partitions, and balances the shares in regular rounds. */
export function createConsumer<A extends DeviceEvent>(options: ConsumerOptions<A>) {
  const { log, roundMs, balance, answerMs, store, instance: me = randomUUID() } = options;
  const begunAt = performance.now();
  const allTroubles = createTroubles(log, () => ({ waiting: waiting() }));
  const told = options.told ?? (isSecret(options.access) ? undefined : ofIdentity);
  const troubles = createReadingTroubles(allTroubles, told, () => connection.refused());
  const connection = openEventHubConnection({ ...options, troubles: allTroubles });
  const ownerships = createLeases(store, me, answerMs, balance.expiryMs / 3);
  const askForIds = () => ofHub(within(connection.client().getPartitionIds(), answerMs));
  const partitionIds = createPartitionIds(askForIds, troubles, log);
  const ofSessions = { ...options, partitionIds: partitionIds.all, troubles, allTroubles };
  const sessions = createPartitionSessions(connection, ownerships, ofSessions);
  // The next token would be made with the key that is replaced, and the client keeps its key (D397).
  const unfollow = whenChanged(options.access, () => connection.reconnect(sessions.reading()));
  const watch = createHubWatch(connection, sessions, { ...options, allTroubles });
  const rounds = createRounds({
    ...{ me, roundMs, balance, partitionIds, ownerships, sessions, troubles, allTroubles, log },
    watch: watch.look,
    failedIdle: connection.replace,
  });
  // A requested partition is read by none from its release to the next round here.
  const repeating = createRepeating(rounds.run, () => (rounds.last().isAwaiting ? roundMs / awaitingRounds : roundMs));

  /** Messages that are read and not handled to their end, and the partitions that have any. */
  function waiting() {
    const waits = sessions.all().filter((session) => session.pending() > 0);
    return {
      messages: waits.reduce((sum, session) => sum + session.pending(), 0),
      partitions: waits.map(({ record }) => record.partition),
    };
  }

  return {
    start: repeating.start,
    /** For an operator: a text for each owned partition from which nothing comes, or that there is none to read. Empty when others read all. */
    missing: () => missingOf(rounds.last(), watch.isHeard, sessions.stateOf, troubles.of),
    /** Since when, in ms, some owned partition is not answered for or not opened; while none is read, since the last complete or refused round. */
    silentForMs() {
      const unansweredMs = sessions.all().map(({ reader }) => reader.quietMs('heard', 'refused'));
      return silentMsAt(performance.now(), rounds.last(), unansweredMs);
    },
    /** Milliseconds since the last event of any partition that is read, or since this instance began. */
    eventlessMs: () =>
      Math.min(performance.now() - begunAt, ...sessions.all().map(({ reader }) => reader.quietMs('event'))),
    waiting,
    /** What is read, for operators; walks over everything that waits. */
    partitions: (): readonly PartitionState[] =>
      sessions.all().map((session) => partitionStateOf(session, watch.saidOf(session.record.partition))),
    /** The partitions that are not read here, and who owns them, as of the last round; for operators. */
    elsewhere: () => rounds.last().records.filter(({ partition }) => sessions.stateOf(partition) === undefined),
    /** The devices with messages that are read and not handled to their end. @param device only this one */
    devices: (device: string | undefined) =>
      sessions
        .all()
        .flatMap(({ record: { partition }, devices }) => devices(device).map((work) => ({ partition, ...work }))),
    /** Others may own its partitions by now: nothing more is begun, called or sent; the next round reads those that it still owns again (D179). */
    stoodStill(ms: number) {
      const revoked = sessions.revokeAll('stood_still');
      if (revoked.length === 0) return;
      const fields = { processPauseMs: Math.round(ms), partitions: revoked };
      log.warn(fields, 'this process stood still: reading its partitions again from their checkpoints');
    },
    /** To be called before each step with an effect: with neither the store nor the hub, nobody would tell that others own its partitions (D179). */
    lookForContact() {
      const lookedAt = rounds.lookedAt();
      const ms = performance.now() - lookedAt;
      if (ms < balance.expiryMs / 2) return;
      watch.askAfter(lookedAt);
      if (ms < (balance.expiryMs * 5) / 6 || !watch.isSilentSince(lookedAt)) return;
      const revoked = sessions.revokeAll('cut_off');
      if (revoked.length === 0) return;
      const why = 'neither the checkpoint store nor the hub answers: giving the partitions up, as others may have them';
      log.warn({ silentMs: Math.round(ms), partitions: revoked }, why);
    },
    leftSince: sessions.leftSince,
    /** Drains all partitions, writes their checkpoints and releases them (G3). */
    async stop() {
      unfollow();
      await within(repeating.stop(), roundEndsWithinMs).catch(() => log.warn({}, 'stopping in the middle of a round'));
      const renewing = setInterval(() => void rounds.renew(), roundMs);
      await sessions.releaseAll();
      clearInterval(renewing);
      await connection.close();
      allTroubles.close();
    },
  };
}
