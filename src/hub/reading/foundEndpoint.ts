import { createRepeating } from '../../concurrency/waiting.ts';
import { diagnoseLookUp } from '../../observing/diagnosis.ts';
import type { Log, Troubles } from '../../observing/log.ts';
import { storeFieldsOf } from '../../observing/storeFailure.ts';
import type { CheckpointStore } from '../../stores/checkpointStore.ts';
import type { Consumer } from './consumer.ts';
import type { Ownerships } from './leases.ts';
import { type EventEndpoint, isSameEndpoint, nameOf } from './lookUp.ts';

export interface FoundOptions {
  /** @throws NoEndpoint */
  readonly lookUp: () => Promise<EventEndpoint>;
  readonly take: TakeEndpoint;
  readonly open: (endpoint: EventEndpoint) => Promise<Consumer>;
  /** The hub has failed over: the process is to stop, and the next one reads the other endpoint. */
  readonly moved: () => void;
  readonly limits: {
    /** The endpoint is looked up again when a partition has not been read for this time, and as often; */
    readonly unreadMs: number;
    /** and when no event has come for this time: it can be the silence of a failover, which looks like idleness. */
    readonly eventlessMs: number;
    /** The longest that an endpoint waits for instances which have work of the one before. */
    readonly othersMs: number;
  };
  readonly log: Log;
  readonly troubles: Pick<Troubles, 'raise' | 'clear'>;
}

const everyMs = 1_000;
/** Pause after a look-up while nothing is read yet. */
const againMs = 5_000;
const notFound = 'looking up the event endpoint';
const notOpened = 'opening the event endpoint';

/** Reads the hub at the endpoint that it names, and notices when it names another one (D402; fact events.failover). */
export function readFoundEndpoint(options: FoundOptions): Consumer {
  const { lookUp, take, open, moved, limits, log, troubles } = options;
  let current: { readonly found: EventEndpoint; readonly consumer: Consumer } | undefined;
  let why = 'it is looked up';
  let askedAt = Number.NEGATIVE_INFINITY;
  let answeredAt = performance.now();
  /** When all partitions of this instance were last read. */
  let readAt = answeredAt;
  let heldSince: number | undefined;
  let isStopping = false;
  let movedAt: number | undefined;
  const repeating = createRepeating(step, () => everyMs);

  function isDue(now: number): boolean {
    const sinceAsked = now - askedAt;
    if (current === undefined) return sinceAsked >= againMs;
    if (current.consumer.missing().length === 0) readAt = now;
    const isOver = (ms: number, limitMs: number) => Math.min(ms, sinceAsked) >= limitMs;
    return isOver(now - readAt, limits.unreadMs) || isOver(current.consumer.eventlessMs(), limits.eventlessMs);
  }

  async function step(): Promise<void> {
    const now = performance.now();
    if (!isDue(now)) return;
    askedAt = now;
    const found = await ask();
    if (isStopping || found === undefined) return;
    if (current === undefined) await begin(found).catch(couldNotOpen);
    else if (!isSameEndpoint(current.found, found)) {
      movedAt = now;
      const fields = { from: nameOf(current.found), to: nameOf(found) };
      log.warn(fields, 'the hub has failed over: stopping, so that a new process reads its other event endpoint');
      moved();
    }
  }

  async function ask(): Promise<EventEndpoint | undefined> {
    try {
      const found = await lookUp();
      answeredAt = performance.now();
      troubles.clear(notFound);
      return found;
    } catch (error) {
      const { isAnswer, cause, ...diagnosis } = diagnoseLookUp(error);
      if (isAnswer) answeredAt = performance.now();
      why = `${diagnosis.hubSaid} (${diagnosis.setting})`;
      const message = 'the hub’s event endpoint cannot be looked up';
      troubles.raise(notFound, { level: 'warn', message, fields: { cause }, diagnosis });
      return undefined;
    }
  }

  async function begin(found: EventEndpoint): Promise<void> {
    heldSince ??= performance.now();
    if (!(await take(found, performance.now() - heldSince >= limits.othersMs))) {
      why = 'other instances have work of the endpoint before';
      return;
    }
    const consumer = await open(found);
    troubles.clear(notOpened);
    current = { found, consumer };
    readAt = performance.now();
    if (isStopping) return;
    log.info({ endpoint: nameOf(found) }, 'the hub’s event endpoint is found');
    consumer.start();
  }

  function couldNotOpen(error: unknown) {
    why = error instanceof Error ? error.message : String(error);
    const message = 'the hub’s event endpoint cannot be opened; trying again';
    troubles.raise(notOpened, { level: 'error', message, diagnosis: { err: error, ...storeFieldsOf(error) } });
  }

  const of = () => current?.consumer;

  return {
    start: repeating.start,
    missing: () => of()?.missing() ?? [`the hub’s event endpoint: ${why}`],
    silentForMs: () => of()?.silentForMs() ?? performance.now() - answeredAt,
    eventlessMs: () => of()?.eventlessMs() ?? Number.POSITIVE_INFINITY,
    waiting: () => of()?.waiting() ?? { messages: 0, partitions: [] },
    partitions: () => of()?.partitions() ?? [],
    elsewhere: () => of()?.elsewhere() ?? [],
    devices: (device) => of()?.devices(device) ?? [],
    stoodStill: (ms) => of()?.stoodStill(ms),
    leftSince: (moment) => of()?.leftSince(moment) ?? 0,
    async stop() {
      isStopping = true;
      void repeating.stop(); // a look-up may take long
      await of()?.stop();
      if (current === undefined || movedAt === undefined) return;
      // A hand-over before the failover was noticed may have come too late for the next reader.
      const unfinished = current.consumer.leftSince(movedAt - limits.eventlessMs);
      const fields = { endpoint: nameOf(current.found), unfinished };
      if (unfinished > 0) log.warn(fields, 'messages were left unfinished at the endpoint that the hub has left');
    },
  };
}

/**
 * Takes the lease of the endpoint that the instances of a hub read, unless another instance owns a partition of the one that they have
 * read before: it may have earlier messages of the same devices (D402).
 * @param isForced takes it in any case
 * @returns whether the endpoint may be read
 */
export type TakeEndpoint = (endpoint: EventEndpoint, isForced: boolean) => Promise<boolean>;

interface EndpointLeaseOptions {
  /** Of the hub itself: the owner in its one record is an endpoint. */
  readonly records: Pick<CheckpointStore, 'ownerships' | 'change'>;
  readonly ownershipsAt: (endpoint: EventEndpoint) => Promise<Pick<Ownerships, 'look'>>;
  readonly expiryMs: number;
}

export function createEndpointLease({ records, ownershipsAt, expiryMs }: EndpointLeaseOptions): TakeEndpoint {
  async function isLeft(name: string): Promise<boolean> {
    const [namespace = '', eventHub = ''] = name.split('/');
    const ownerships = await ownershipsAt({ namespace, eventHub });
    return (await ownerships.look()).every(({ owner, unrenewedMs }) => owner === '' || unrenewedMs >= expiryMs);
  }

  return async (endpoint, isForced) => {
    const owner = nameOf(endpoint).toLowerCase(); // names have no case
    const [seen] = await records.ownerships();
    if (seen?.owner === owner) return true;
    if (seen !== undefined && !isForced && !(await isLeft(seen.owner))) return false;
    const next = { partition: 'endpoint', owner, epoch: (seen?.epoch ?? 0) + 1, renewedAt: 0 };
    return (await records.change(seen, { ...next, wantedBy: '', wantedSince: 0 })) !== undefined;
  };
}
