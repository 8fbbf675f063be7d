import { randomUUID } from 'node:crypto';
import { within } from '../../concurrency/within.ts';
import type { DeviceWork } from '../../engine/order/deviceWork.ts';
import type { Arriving } from '../../engine/partition/intake.ts';
import { createTroubles } from '../../log/troubles.ts';
import type { Ownership } from '../stores/store.ts';
import { type BalanceLimits, decide } from './balance.ts';
import { type EventHubConnectionOptions, openEventHubConnection } from './eventHubConnection.ts';
import { diagnosisOf, ofHub } from './hubFailure.ts';
import { createNewestEvents } from './newestEvents.ts';
import { createOwnerships } from './ownerships.ts';
import { type PartitionState, partitionStateOf } from './partitionState.ts';
import { createReadingTroubles, wholeHub } from './readingTroubles.ts';
import type { PartitionSession } from './session.ts';
import { createPartitionSessions, type PartitionSessionsOptions } from './sessions.ts';
import { createStallWatch } from './stallWatch.ts';

/** Reads this instance's share of the hub's partitions, and balances the shares in regular rounds. */
export interface Consumer {
  start(): void;
  /**
   * For an operator: a text for each owned partition from which the hub delivers nothing, or one that says that there
   * is no partition to read. Empty when other instances read all partitions.
   */
  missing(): string[];
  /**
   * @returns milliseconds for which the hub has not answered for some partition that is read, or for which some owned
   * partition could not be opened; while none is read, since the last complete round. A refusal by the hub counts as an
   * answer: a restart of the service would not change it.
   */
  silentForMs(): number;
  /** Messages that are read and not handled to their end, and the partitions that have any. */
  waiting(): { readonly messages: number; readonly partitions: readonly string[] };
  /** What is read, for operators; walks over everything that waits. */
  partitions(): readonly PartitionState[];
  /** The partitions that are not read here, and who owns them, as of the last round; for operators. */
  elsewhere(): readonly Ownership[];
  /**
   * The devices with messages that are read and not handled to their end.
   * @param device only this one; undefined for all
   */
  devices(device: string | undefined): readonly (DeviceWork & { readonly partition: string })[];
  /**
   * This process has not run for so many milliseconds, and other instances may own its partitions by now. Nothing more is
   * begun, called or sent; the next round reads what still is ours again, from the checkpoints (D179).
   */
  stoodStill(ms: number): void;
  /** Drains all partitions, writes their checkpoints and releases them (G3). */
  stop(): Promise<void>;
}

export interface ConsumerOptions<A extends Arriving>
  extends Omit<EventHubConnectionOptions, 'troubles'>,
    Omit<PartitionSessionsOptions<A>, 'troubles' | 'allTroubles' | 'partitionIds'> {
  /** Owner of its partitions in the ownership records; a random one when omitted. */
  readonly instance?: string;
  readonly roundMs: number;
  readonly balance: BalanceLimits;
}

const countEveryMs = 5 * 60_000;
const roundTrouble = 'looking after the partitions';

export function createConsumer<A extends Arriving>(options: ConsumerOptions<A>): Consumer {
  const { log, roundMs, balance, instance: me = randomUUID() } = options;
  const allTroubles = createTroubles(log, () => ({ waiting: waiting() }));
  const troubles = createReadingTroubles(allTroubles);
  const connection = openEventHubConnection({ ...options, troubles: allTroubles });
  const ownerships = createOwnerships(options.store, me, options.answerMs, balance.expiryMs / 3);
  const sessions = createPartitionSessions(connection, ownerships, {
    ...options,
    partitionIds: () => partitions,
    troubles,
    allTroubles,
  });
  const reading = () => sessions.all().filter(({ record }) => !sessions.isEnding(record.partition));
  const newestOf = async (partition: string) =>
    (await connection.client().getPartitionProperties(partition)).lastEnqueuedSequenceNumber;
  const newestEvents = createNewestEvents({
    newestOf,
    answerMs: options.answerMs,
    couldNotAsk: (partition, error) => log.debug({ err: error, partition }, 'cannot ask the hub for its newest event'),
  });
  const stallWatch = createStallWatch({
    newestOf: (partition) => within(newestOf(partition), options.answerMs),
    stalled(which) {
      const message = 'the hub has events that do not come: connecting again';
      allTroubles.met('events that do not come', { level: 'warn', message, fields: { partitions: which } });
      connection.reconnect(reading());
    },
    idle() {
      log.debug({}, 'no event from any partition: connecting again, in case the hub has moved');
      connection.reconnect(reading());
    },
    couldNotAsk: (error) => log.debug({ err: error }, 'cannot ask the hub whether it has events that do not come'),
  });
  let partitions: readonly string[] = [];
  /** As of the last round. */
  let known: readonly Ownership[] = [];
  let countedAt = 0;
  /** Since when an owned partition has no session. */
  let unreadSince: number | undefined;
  let lastRound = performance.now();
  let othersReadAll = false;
  /** In the last round. */
  let owned: readonly string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let stopping = false;
  let rounding: Promise<void> = Promise.resolve();

  async function round(): Promise<void> {
    const isRead = ({ partition }: Ownership) => sessions.all().some(({ record }) => record.partition === partition);
    connection.revive(reading());
    void stallWatch.look(reading());
    newestEvents.look(sessions.all().map(({ record }) => record.partition));
    if (partitions.length === 0) await countPartitions();
    else if (performance.now() - countedAt > countEveryMs) void countPartitions().catch(notCounted);
    const records = await ownerships.look();
    known = records;
    const decision = decide(me, partitions, records, balance);
    sessions.revokeLost(records);
    // Before the first await: a partition that is released during it must not be opened again.
    const seen = new Map(records.map((record) => [record.partition, record]));
    const unread = new Set(decision.renew.map(({ partition }) => partition).filter((one) => !sessions.has(one)));
    const isRefused = (partition: string) => troubles.of(partition)?.isAnswer ?? false;
    const isWaiting = decision.renew.some(
      (record) => !isRead(record) && !sessions.isEnding(record.partition) && !isRefused(record.partition),
    );
    unreadSince = isWaiting ? (unreadSince ?? performance.now()) : undefined;
    owned = [...decision.renew.map(({ partition }) => partition), ...decision.claim];
    for (const place of troubles.places()) if (place !== wholeHub && !owned.includes(place)) troubles.over(place);
    for (const { partition } of decision.release) void sessions.release(partition);
    const renewed = await Promise.all(decision.renew.map(ownerships.renew));
    // Limited: the next round must come in time to renew.
    const openings = await within(
      Promise.allSettled([
        ...renewed.map((record) => record && unread.has(record.partition) && sessions.open(record, undefined)),
        ...decision.claim.map((partition) => claim(partition, seen.get(partition))),
      ]),
      Math.max(roundMs, balance.expiryMs / 3),
    );
    await Promise.all(decision.ask.map(ownerships.ask));
    const isRecorded = partitions.every((partition) => seen.has(partition));
    othersReadAll = decision.renew.length === 0 && decision.claim.length === 0 && isRecorded;
    const failed = openings.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    lastRound = performance.now();
  }

  /** The number of partitions can grow while the service runs. */
  async function countPartitions(): Promise<void> {
    countedAt = performance.now();
    partitions = await ofHub(within(connection.client().getPartitionIds(), options.answerMs));
    troubles.over(wholeHub);
  }

  async function claim(partition: string, seen: Ownership | undefined): Promise<void> {
    if (sessions.has(partition)) return;
    const record = await ownerships.claim(partition, seen);
    const afterViolentEnd = seen !== undefined && seen.begun === undefined;
    if (record) await sessions.open(record, seen?.begun, afterViolentEnd);
  }

  /** A drain may take longer than the expiry: until the release, other instances must not claim the partition. */
  async function renewOwn(): Promise<void> {
    const records = await ownerships.look();
    sessions.revokeLost(records);
    await Promise.all(records.filter(({ owner }) => owner === me).map(ownerships.renew));
  }

  const notCounted = (error: unknown) =>
    log.warn({ err: error }, 'cannot count the partitions of the hub; using the last count');
  const notRenewed = (error: unknown) => log.warn({ err: error }, 'ownership not renewed while stopping');

  function roundFailed(error: unknown) {
    const diagnosis = diagnosisOf(error);
    if (diagnosis?.isAnswer) lastRound = performance.now();
    if (diagnosis === undefined) {
      const message = 'could not look after the partitions; trying again';
      allTroubles.met(roundTrouble, { level: 'warn', message, fields: { err: error } });
    } else if (partitions.length === 0) troubles.met(wholeHub, diagnosis);
  }

  function unreadableBecause(partition: string): string {
    const diagnosis = troubles.of(partition);
    const why = diagnosis ? `${diagnosis.hubSaid} (${diagnosis.setting ?? diagnosis.todo})` : 'no sign of life yet';
    return `partition ${partition} of the hub: ${why}`;
  }

  /** Whether the hub delivers events of the partition, or has recently confirmed that there are none. */
  function isHeard(partition: string): boolean {
    const reader = sessions.all().find(({ record }) => record.partition === partition)?.reader;
    return reader?.isHeard() === true && reader.deafForMs() <= options.silentMs;
  }

  const stateOf = (session: PartitionSession) => {
    const { partition } = session.record;
    const state = sessions.isEnding(partition) ? 'draining' : 'reading';
    return partitionStateOf(session, state, newestEvents.of(partition));
  };

  function waiting() {
    const waits = sessions.all().filter((session) => session.pending() > 0);
    return {
      messages: waits.reduce((sum, session) => sum + session.pending(), 0),
      partitions: waits.map(({ record }) => record.partition),
    };
  }

  function nextRound(afterMs: number): void {
    timer = setTimeout(() => {
      rounding = round()
        .then(() => allTroubles.over(roundTrouble))
        .catch((error) => {
          roundFailed(error);
          if (sessions.all().length === 0) connection.replace();
        })
        .then(() => {
          if (!stopping) nextRound(roundMs);
        });
    }, afterMs);
  }

  return {
    start: () => nextRound(0),
    missing() {
      if (othersReadAll) return [];
      const unheard = owned.filter((partition) => !sessions.isEnding(partition) && !isHeard(partition));
      if (owned.length > 0) return unheard.map(unreadableBecause);
      const hubTrouble = troubles.of(wholeHub);
      const why = hubTrouble ? `: ${hubTrouble.hubSaid} (${hubTrouble.setting ?? hubTrouble.todo})` : '';
      return [`a partition of the hub to read${why}`];
    },
    silentForMs() {
      const deafForMs = sessions.all().map(({ reader }) => reader.unansweredForMs());
      if (deafForMs.length === 0) return performance.now() - lastRound;
      const unreadMs = unreadSince === undefined ? 0 : performance.now() - unreadSince;
      return Math.max(unreadMs, ...deafForMs);
    },
    waiting,
    partitions: () => sessions.all().map(stateOf),
    elsewhere: () => known.filter(({ partition }) => !sessions.has(partition)),
    devices: (device) =>
      sessions.all().flatMap((session) => {
        const { partition } = session.record;
        return session.devices(device).map((work) => ({ partition, ...work }));
      }),
    stoodStill(ms) {
      const revoked = sessions.revokeAll();
      if (revoked.length === 0) return;
      const fields = { standstillMs: Math.round(ms), partitions: revoked };
      log.warn(fields, 'this process stood still: reading its partitions again from their checkpoints');
    },
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await within(rounding, 2_000).catch(() => log.warn({}, 'stopping in the middle of a round'));
      const renewing = setInterval(() => void renewOwn().catch(notRenewed), roundMs);
      await sessions.releaseAll();
      clearInterval(renewing);
      await connection.close();
      allTroubles.close();
    },
  };
}
