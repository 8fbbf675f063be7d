import { randomUUID } from 'node:crypto';
import { EventHubConsumerClient } from '@azure/event-hubs';
import { type BalanceLimits, decide, type Ownership } from './balance.ts';
import { type Arriving, createPartition, type Partition, type PartitionOptions } from './partition.ts';
import { createReader, type Reader, type ReaderOptions } from './reader.ts';
import type { Store } from './stores/store.ts';
import { within } from './within.ts';

/** Reads the hub's event endpoint: its share of the partitions, in rounds of looking who reads what. */
export interface Consumer {
  start(): void;
  /** Whether it reads a partition, or the others read all there are. */
  isReading(): boolean;
  /**
   * Milliseconds since a round last came to its end, or since the hub last gave a sign of life for a partition,
   * whichever is longer: restarting subscriptions and connections has not helped for so long.
   */
  silentForMs(): number;
  /** Stops intake, waits up to the drain limit for what is running, checkpoints and lets go of the partitions (G3). */
  stop(): Promise<void>;
}

export interface ConsumerOptions<A extends Arriving>
  extends Pick<ReaderOptions, 'startPosition' | 'batchSize' | 'prefetch' | 'maxWaitSeconds' | 'log'> {
  readonly connectionString: string;
  readonly consumerGroup: string;
  readonly drainMs: number;
  readonly roundMs: number;
  /** The longest that one answer of the hub or the store may take. */
  readonly answerMs: number;
  /** A subscription that gives no sign of life for so long is replaced; an idle one gives one every `maxWaitSeconds`. */
  readonly silentMs: number;
  readonly balance: BalanceLimits;
  readonly store: Store;
  /** What each partition does with its events. */
  readonly partition: (
    id: string,
  ) => Omit<PartitionOptions<A>, 'progress' | 'horizon' | 'checkpoint' | 'onTrouble' | 'onGivenUp'>;
}

/** A partition that this instance reads. */
interface Held {
  readonly record: Ownership;
  readonly partition: Partition;
  readonly reader: Reader;
  readonly close: () => void;
  releasing: boolean;
}

export function createConsumer<A extends Arriving>(options: ConsumerOptions<A>): Consumer {
  const { store, log, drainMs, roundMs, balance } = options;
  const answered = <T>(promise: Promise<T>): Promise<T> => within(promise, options.answerMs);
  const me = randomUUID();
  const held = new Map<string, Held>();
  /** Partitions that were lost while messages of theirs were running: not to be read again before these have ended. */
  const ending = new Map<string, Promise<unknown>>();
  let client = newClient(options);
  let partitions: readonly string[] = [];
  let lastRound = Date.now();
  let othersReadAll = false;
  let timer: NodeJS.Timeout | undefined;
  let stopping = false;
  let rounding: Promise<void> = Promise.resolve();

  async function round(): Promise<void> {
    reviveSilent();
    if (partitions.length === 0) partitions = await answered(client.getPartitionIds());
    const records = await answered(store.ownerships());
    const decision = decide(me, partitions, records, Date.now(), balance);
    forgetLost(records);
    await Promise.all(decision.renew.map((record) => change(record, { renewedAt: Date.now() })));
    for (const { partition } of decision.release) void release(partition).catch(notGivenBack);
    const seen = new Map(records.map((record) => [record.partition, record]));
    await Promise.all(decision.claim.map((partitionId) => claim(partitionId, seen.get(partitionId))));
    await Promise.all(decision.renew.filter(({ partition }) => !held.has(partition)).map(open));
    await Promise.all(decision.ask.map((record) => change(record, { wantedBy: me, wantedSince: Date.now() })));
    othersReadAll = held.size === 0 && decision.claim.length === 0 && records.length === partitions.length;
    lastRound = Date.now();
  }

  const change = (record: Ownership, what: Partial<Ownership>) =>
    answered(store.change(record, { ...record, ...what }));

  async function claim(partitionId: string, seen: Ownership | undefined): Promise<void> {
    if (held.has(partitionId) || ending.has(partitionId)) return;
    const free = { partition: partitionId, owner: me, wantedBy: '', wantedSince: 0, renewedAt: Date.now() };
    const record = await answered(store.change(seen, { ...free, epoch: (seen?.epoch ?? 0) + 1 }));
    if (record) await open(record);
  }

  /** Begins to read a partition of one's own. What fails is tried again in the next round. */
  async function open(record: Ownership): Promise<void> {
    const partitionId = record.partition;
    if (stopping || ending.has(partitionId)) return;
    const [progress, { lastEnqueuedSequenceNumber }] = await Promise.all([
      answered(store.progress(partitionId)),
      answered(client.getPartitionProperties(partitionId)),
    ]);
    if (stopping) return;
    const own = options.partition(partitionId);
    const partition = createPartition({
      ...own,
      progress,
      horizon: lastEnqueuedSequenceNumber,
      checkpoint: (next) => answered(store.writeProgress(record, next)),
      onTrouble: (error, what) => log.error({ err: error, partition: partitionId }, what),
      onGivenUp: () => void leave(partitionId),
    });
    const lost = () => {
      log.warn({ partition: partitionId }, 'somebody else reads this partition now');
      void leave(partitionId);
    };
    const reader = createReader(client, { ...options, partitionId, partition, epoch: record.epoch, lost });
    held.set(partitionId, { record, partition, reader, close: own.spool.close, releasing: false });
    log.info({ partition: partitionId, after: progress?.sequenceNumber }, 'reading partition');
  }

  /** Ownership is gone: takes and writes nothing any more. */
  async function leave(partitionId: string): Promise<void> {
    const one = held.get(partitionId);
    if (one === undefined) return;
    held.delete(partitionId);
    one.partition.abandon();
    const ended = one.partition.drain(drainMs).finally(() => {
      ending.delete(partitionId);
      one.close();
    });
    ending.set(partitionId, ended);
    await one.reader.close();
  }

  /** Drains and gives the partition back, for whoever wants it. */
  async function release(partitionId: string): Promise<void> {
    const one = held.get(partitionId);
    if (one === undefined || one.releasing) return;
    one.releasing = true;
    const left = await one.partition.drain(drainMs);
    await one.reader.close();
    one.partition.abandon();
    one.close();
    const records = await answered(store.ownerships());
    const record = records.find(({ partition, owner }) => partition === partitionId && owner === me);
    if (record) await change(record, { owner: '', wantedBy: '' });
    held.delete(partitionId);
    log.info({ partition: partitionId, left }, 'left partition');
  }

  /** Then it is taken over when the ownership expires. */
  const notGivenBack = (error: unknown) => log.warn({ err: error }, 'a partition was not given back');

  function forgetLost(records: readonly Ownership[]): void {
    for (const { partition, owner, epoch } of records) {
      const one = held.get(partition);
      if (one && (owner !== me || epoch !== one.record.epoch)) void leave(partition);
    }
  }

  /** A subscription that gives no sign of life is replaced; when none does, so is the connection (SDK traps 11 to 17). */
  function reviveSilent(): void {
    const all = [...held.values()];
    const silent = all.filter(({ reader }) => reader.silentForMs() > options.silentMs);
    if (silent.length === 0) return;
    log.warn(
      { partitions: silent.map(({ record }) => record.partition) },
      'no sign of life from the hub: subscribing again',
    );
    const nothingIsHeard = all.every((one) => silent.includes(one) || one.reader.isTakingIn());
    if (nothingIsHeard) replaceClient();
    for (const { reader } of nothingIsHeard ? all : silent) reader.restart(client);
  }

  function replaceClient(): void {
    const old = client;
    client = newClient(options);
    void old.close().catch((error) => log.debug({ err: error }, 'a retired hub connection did not close cleanly'));
  }

  function nextRound(afterMs: number): void {
    timer = setTimeout(() => {
      rounding = round()
        .catch((error) => {
          log.warn({ err: error }, 'could not look after the partitions; trying again');
          if (held.size === 0) replaceClient();
        })
        .then(() => {
          if (!stopping) nextRound(roundMs);
        });
    }, afterMs);
  }

  return {
    start: () => nextRound(0),
    isReading: () => held.size > 0 || othersReadAll,
    silentForMs: () =>
      Math.max(Date.now() - lastRound, ...Array.from(held.values(), ({ reader }) => reader.deafForMs())),
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await within(rounding, 2_000).catch(() => log.warn('stopping in the middle of a round'));
      await Promise.all([...held.keys()].map((id) => release(id).catch(notGivenBack)));
      await answered(client.close()).catch((error) =>
        log.debug({ err: error }, 'the hub connection did not close cleanly'),
      );
    },
  };
}

const newClient = ({
  consumerGroup,
  connectionString,
}: Pick<ConsumerOptions<Arriving>, 'consumerGroup' | 'connectionString'>) =>
  new EventHubConsumerClient(consumerGroup, connectionString, {
    loadBalancingOptions: { updateIntervalInMs: 1_000 }, // how soon the SDK resumes a partition after an error
    retryOptions: { retryDelayInMs: 500, maxRetryDelayInMs: 5_000 },
  });
