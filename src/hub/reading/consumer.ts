import { randomUUID } from 'node:crypto';
import { within } from '../../concurrency/within.ts';
import { createTroubles } from '../../log/troubles.ts';
import type { Arriving } from '../partition/intake.ts';
import type { Ownership } from '../stores/store.ts';
import { type BalanceLimits, decide } from './balance.ts';
import { type EventHubConnectionOptions, openEventHubConnection } from './eventHubConnection.ts';
import { diagnosisOf, ofHub } from './hubFailure.ts';
import { createOwnerships } from './ownerships.ts';
import { createReadingTroubles, wholeHub } from './readingTroubles.ts';
import { createPartitionSessions, type PartitionSessionsOptions } from './sessions.ts';
import { createStallWatch } from './stallWatch.ts';

/** Reads the hub's event endpoint: its share of the partitions, in rounds of looking who reads what. */
export interface Consumer {
  start(): void;
  /**
   * What stands between it and reading all that it owns, in words: of each partition the hub must have given a sign of
   * life. Nothing when the others read all there are.
   */
  missing(): string[];
  /**
   * Milliseconds since the hub last answered for every partition it reads, and since every partition it owns could be
   * opened; while it reads none, since it has last been able to look for one. Restarting subscriptions and connections
   * has not helped for so long. What the hub refuses counts as answered: no restart would change that.
   */
  silentForMs(): number;
  /** Stops intake, waits up to the drain limit for what is running, checkpoints and lets go of the partitions (G3). */
  stop(): Promise<void>;
}

export interface ConsumerOptions<A extends Arriving>
  extends Omit<EventHubConnectionOptions, 'troubles'>,
    Omit<PartitionSessionsOptions<A>, 'troubles'> {
  readonly roundMs: number;
  readonly balance: BalanceLimits;
}

const countEveryMs = 5 * 60_000;
const lookingAfter = 'looking after the partitions';

export function createConsumer<A extends Arriving>(options: ConsumerOptions<A>): Consumer {
  const { log, roundMs, balance } = options;
  const me = randomUUID();
  const allTroubles = createTroubles(log);
  const troubles = createReadingTroubles(allTroubles);
  const line = openEventHubConnection({ ...options, troubles: allTroubles });
  const ownerships = createOwnerships(options.store, me, options.answerMs, balance.expiryMs / 2);
  const sessions = createPartitionSessions(line, ownerships, { ...options, troubles });
  const reading = () => sessions.all().filter(({ record }) => !sessions.isEnding(record.partition));
  const quiet = createStallWatch({
    newestOf: async (partition) =>
      (await within(line.client().getPartitionProperties(partition), options.answerMs)).lastEnqueuedSequenceNumber,
    stalled(which) {
      const message = 'the hub has events that do not come: connecting again';
      allTroubles.met('events that do not come', { level: 'warn', message, fields: { partitions: which } });
      line.reconnect(reading());
    },
    idle() {
      log.debug('no event from any partition: connecting again, in case the hub has moved');
      line.reconnect(reading());
    },
    couldNotAsk: (error) => log.debug({ err: error }, 'not known whether the hub has events that do not come'),
  });
  let partitions: readonly string[] = [];
  let countedAt = 0;
  /** Since when there is a partition of ours that cannot be read. */
  let unreadSince: number | undefined;
  let lastRound = performance.now();
  let othersReadAll = false;
  /** As of the last round. */
  let owned: readonly string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let stopping = false;
  let rounding: Promise<void> = Promise.resolve();

  async function round(): Promise<void> {
    const isRead = ({ partition }: Ownership) => sessions.all().some(({ record }) => record.partition === partition);
    line.revive(reading());
    void quiet.look(reading());
    if (partitions.length === 0) await countPartitions();
    else if (performance.now() - countedAt > countEveryMs) void countPartitions().catch(notCounted);
    const { records, sightedAt } = await ownerships.look();
    const decision = decide(me, partitions, records, Date.now(), balance, sightedAt);
    sessions.revokeLost(records);
    // Before anything is waited for: what is given back meanwhile is not unread.
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
    // However long that takes, what is read must be renewed in time.
    const openings = await within(
      Promise.allSettled([
        ...renewed.map((record) => record && unread.has(record.partition) && sessions.open(record, undefined)),
        ...decision.claim.map((partition) => claim(partition, seen.get(partition))),
      ]),
      Math.max(roundMs, balance.expiryMs / 3),
    );
    await Promise.all(decision.ask.map(ownerships.ask));
    othersReadAll = decision.renew.length === 0 && decision.claim.length === 0 && records.length === partitions.length;
    const failed = openings.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    lastRound = performance.now();
  }

  /** An event hub behind a route can be given more of them. */
  async function countPartitions(): Promise<void> {
    countedAt = performance.now();
    partitions = await ofHub(within(line.client().getPartitionIds(), options.answerMs));
    troubles.over(wholeHub);
  }

  async function claim(partition: string, seen: Ownership | undefined): Promise<void> {
    if (sessions.has(partition)) return;
    const record = await ownerships.claim(partition, seen);
    const afterViolentEnd = seen !== undefined && seen.begun === undefined;
    if (record) await sessions.open(record, seen?.begun, afterViolentEnd);
  }

  /** A drain may take longer than ownership lasts: until all is given back, nobody is to take it for deserted. */
  async function renewOwn(): Promise<void> {
    const { records } = await ownerships.look();
    sessions.revokeLost(records);
    await Promise.all(records.filter(({ owner }) => owner === me).map(ownerships.renew));
  }

  const notCounted = (error: unknown) =>
    log.warn({ err: error }, 'not known whether the hub has more partitions by now');
  const notRenewed = (error: unknown) => log.warn({ err: error }, 'ownership not renewed while stopping');

  function roundFailed(error: unknown) {
    const diagnosis = diagnosisOf(error);
    if (diagnosis?.isAnswer) lastRound = performance.now();
    if (diagnosis === undefined) {
      const message = 'could not look after the partitions; trying again';
      allTroubles.met(lookingAfter, { level: 'warn', message, fields: { err: error } });
    } else if (partitions.length === 0) troubles.met(wholeHub, diagnosis);
  }

  function unreadableBecause(partition: string): string {
    const diagnosis = troubles.of(partition);
    const why = diagnosis ? `${diagnosis.hubSaid} (${diagnosis.setting ?? diagnosis.todo})` : 'no sign of life yet';
    return `partition ${partition} of the hub: ${why}`;
  }

  /** The hub has agreed to give its events, and is not silent. */
  function isHeard(partition: string): boolean {
    const reader = sessions.all().find(({ record }) => record.partition === partition)?.reader;
    return reader?.isHeard() === true && reader.deafForMs() <= options.silentMs;
  }

  function nextRound(afterMs: number): void {
    timer = setTimeout(() => {
      rounding = round()
        .then(() => allTroubles.over(lookingAfter))
        .catch((error) => {
          roundFailed(error);
          if (sessions.all().length === 0) line.replace();
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
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await within(rounding, 2_000).catch(() => log.warn('stopping in the middle of a round'));
      const renewing = setInterval(() => void renewOwn().catch(notRenewed), roundMs);
      await sessions.releaseAll();
      clearInterval(renewing);
      await line.close();
      allTroubles.close();
    },
  };
}
