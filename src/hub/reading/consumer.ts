import { randomUUID } from 'node:crypto';
import type { Arriving } from '../partition/partition.ts';
import { within } from '../within.ts';
import { type BalanceLimits, decide, type Ownership } from './balance.ts';
import { type EventLineOptions, openEventLine } from './eventLine.ts';
import { createOwnerships } from './ownerships.ts';
import { createTenures, type TenuresOptions } from './tenures.ts';

/** Reads the hub's event endpoint: its share of the partitions, in rounds of looking who reads what. */
export interface Consumer {
  start(): void;
  /** Whether it reads a partition, or the others read all there are. */
  isReading(): boolean;
  /**
   * Milliseconds since the hub last gave a sign of life for every partition it reads, and since every partition it owns
   * could be read; while it reads none, since it has last been able to look for one. Restarting subscriptions
   * and connections has not helped for so long.
   */
  silentForMs(): number;
  /** Stops intake, waits up to the drain limit for what is running, checkpoints and lets go of the partitions (G3). */
  stop(): Promise<void>;
}

export interface ConsumerOptions<A extends Arriving> extends EventLineOptions, TenuresOptions<A> {
  readonly roundMs: number;
  readonly balance: BalanceLimits;
}

const countEveryMs = 5 * 60_000;

export function createConsumer<A extends Arriving>(options: ConsumerOptions<A>): Consumer {
  const { log, roundMs, balance } = options;
  const me = randomUUID();
  const line = openEventLine(options);
  const ownerships = createOwnerships(options.store, me, options.answerMs, balance.expiryMs / 2);
  const tenures = createTenures(line, ownerships, options);
  let partitions: readonly string[] = [];
  let countedAt = 0;
  /** Since when there is a partition of ours that cannot be read. */
  let unreadSince: number | undefined;
  let lastRound = performance.now();
  let othersReadAll = false;
  let timer: NodeJS.Timeout | undefined;
  let stopping = false;
  let rounding: Promise<void> = Promise.resolve();

  async function round(): Promise<void> {
    const isRead = ({ partition }: Ownership) => tenures.all().some(({ record }) => record.partition === partition);
    line.revive(tenures.all().filter(({ record }) => !tenures.isLeaving(record.partition)));
    if (partitions.length === 0) await countPartitions();
    else if (performance.now() - countedAt > countEveryMs) void countPartitions().catch(notCounted);
    const { records, sightedAt } = await ownerships.look();
    const decision = decide(me, partitions, records, Date.now(), balance, sightedAt);
    tenures.forgetLost(records);
    // Before anything is waited for: what is given back meanwhile is not unread.
    const seen = new Map(records.map((record) => [record.partition, record]));
    const unread = new Set(decision.renew.map(({ partition }) => partition).filter((one) => !tenures.has(one)));
    const isWaiting = decision.renew.some((record) => !isRead(record) && !tenures.isLeaving(record.partition));
    unreadSince = isWaiting ? (unreadSince ?? performance.now()) : undefined;
    for (const { partition } of decision.release) void tenures.release(partition);
    const renewed = await Promise.all(decision.renew.map(ownerships.renew));
    // However long that takes, what is read must be renewed in time.
    const openings = await within(
      Promise.allSettled([
        ...renewed.map((record) => record && unread.has(record.partition) && tenures.open(record, undefined)),
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
    partitions = await within(line.client().getPartitionIds(), options.answerMs);
  }

  async function claim(partition: string, seen: Ownership | undefined): Promise<void> {
    if (tenures.has(partition)) return;
    const record = await ownerships.claim(partition, seen);
    if (record) await tenures.open(record, seen?.begun);
  }

  /** A drain may take longer than ownership lasts: until all is given back, nobody is to take it for deserted. */
  async function renewOwn(): Promise<void> {
    const { records } = await ownerships.look();
    tenures.forgetLost(records);
    await Promise.all(records.filter(({ owner }) => owner === me).map(ownerships.renew));
  }

  const notCounted = (error: unknown) =>
    log.warn({ err: error }, 'not known whether the hub has more partitions by now');
  const notRenewed = (error: unknown) => log.warn({ err: error }, 'ownership not renewed while stopping');

  function nextRound(afterMs: number): void {
    timer = setTimeout(() => {
      rounding = round()
        .catch((error) => {
          log.warn({ err: error }, 'could not look after the partitions; trying again');
          if (tenures.all().length === 0) line.replace();
        })
        .then(() => {
          if (!stopping) nextRound(roundMs);
        });
    }, afterMs);
  }

  return {
    start: () => nextRound(0),
    isReading: () => tenures.all().length > 0 || othersReadAll,
    silentForMs() {
      const deafForMs = tenures.all().map(({ reader }) => reader.deafForMs());
      if (deafForMs.length === 0) return performance.now() - lastRound;
      const unreadMs = unreadSince === undefined ? 0 : performance.now() - unreadSince;
      return Math.max(unreadMs, ...deafForMs);
    },
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await within(rounding, 2_000).catch(() => log.warn('stopping in the middle of a round'));
      const renewing = setInterval(() => void renewOwn().catch(notRenewed), roundMs);
      await tenures.releaseAll();
      clearInterval(renewing);
      await line.close();
    },
  };
}
