import { createRepeating } from '../../concurrency/repeating.ts';
import type { Log } from '../../log/log.ts';
import type { Troubles } from '../../log/troubles.ts';
import { type Meter, noMeter } from '../../metrics/meter.ts';
import type { HubEvent } from '../../protocol/event.ts';
import { storeFieldsOf } from '../../storage/storeFailure.ts';
import type { Consumer } from '../reading/consumer.ts';
import type { StartPosition } from '../reading/startPosition.ts';
import { diagnoseLookUp } from './endpointDiagnosis.ts';
import type { EndpointEntry, KnownEndpoint } from './endpointRecord.ts';
import { type EventEndpoint, isSameEndpoint } from './eventEndpoint.ts';
import { createLookUpTimes, type LookUpLimits } from './lookUpTimes.ts';

export type FailoverPosition = 'overlap' | 'earliest' | 'latest';

export interface FollowOptions {
  /** @throws NoEndpoint */
  readonly lookUp: () => Promise<EventEndpoint>;
  /** Enters the endpoint in the record of those that this hub has had. */
  readonly enter: (endpoint: KnownEndpoint) => Promise<EndpointEntry>;
  /**
   * @param start for its partitions without a checkpoint
   * @param seen to be called for each event
   */
  readonly open: (
    endpoint: EventEndpoint,
    start: StartPosition,
    seen: (event: Pick<HubEvent, 'enqueuedTimeUtc'>) => void,
  ) => Promise<Consumer>;
  /** How many partitions of these endpoints other instances own that are alive. */
  readonly ownedByOthers: (endpoints: readonly EventEndpoint[]) => Promise<number>;
  readonly startPosition: StartPosition;
  /** The same for an endpoint that a failover has brought (D403). */
  readonly failoverPosition: FailoverPosition;
  readonly limits: FollowLimits;
  readonly log: Log;
  readonly troubles: Pick<Troubles, 'raise' | 'clear'>;
  readonly meter?: Meter;
}

export interface FollowLimits extends LookUpLimits {
  /** How far before the newest event of the endpoint before the new one is read: clocks of two regions differ. */
  readonly overlapMs: number;
  /** The longest that a new endpoint waits for the messages of the one before. */
  readonly finishMs: number;
  /** The longest that it waits for other instances to leave the ones before. */
  readonly othersMs: number;
}

interface Current {
  readonly found: EventEndpoint;
  readonly consumer: Consumer;
}

interface Next {
  readonly found: EventEndpoint;
  readonly since: number;
}

const everyMs = 1_000;
/** Pause after a look-up that has failed while nothing is read yet, and after an endpoint that could not be opened. */
const againMs = 5_000;
const notFound = 'looking up the event endpoint';
const notOpened = 'opening the event endpoint';

/**
 * Reads the hub at the endpoint that it names, and looks the endpoint up again when that falls silent or refuses: a hub that
 * fails over has another one (D402; fact events.failover). Then what is in progress is finished, and the other endpoint is read, with checkpoints of
 * its own: those of the one before stay as they are, for the way back.
 */
export function followHub(options: FollowOptions): Consumer {
  const { lookUp, enter, open, ownedByOthers, startPosition, failoverPosition, limits } = options;
  const { log, troubles, meter = noMeter } = options;
  const countChange = meter.counter('device_messaging.endpoint.changes');
  const times = createLookUpTimes(limits);
  let current: Current | undefined;
  let next: Next | undefined;
  /** When the last event came, as `performance.now()`. */
  let eventAt = performance.now();
  /** When the hub received the newest event that was read at the current endpoint. */
  let newest: Date | undefined;
  let why = 'it is looked up';
  let againAt = 0;
  let answeredAt = performance.now();
  let isStopping = false;
  let changing: Promise<void> | undefined;
  const repeating = createRepeating(step, () => everyMs);

  function seen({ enqueuedTimeUtc }: Pick<HubEvent, 'enqueuedTimeUtc'>) {
    eventAt = performance.now();
    if (newest === undefined || enqueuedTimeUtc > newest) newest = enqueuedTimeUtc;
  }

  async function step(): Promise<void> {
    const now = performance.now();
    const isDue = current === undefined ? now >= againAt : times.isDue(current.consumer.missing().length > 0, eventAt);
    if (isDue) await ask();
    if (isStopping || next === undefined || performance.now() < againAt || !hasFinished(next)) return;
    changing = change(next).catch(couldNotOpen);
    await changing;
  }

  async function ask(): Promise<void> {
    times.asked();
    try {
      const found = await lookUp();
      answeredAt = performance.now();
      troubles.clear(notFound);
      const named = next?.found ?? current?.found;
      if (named && isSameEndpoint(named, found)) return;
      if (named) tellFailover(named, found);
      const isBack = current && isSameEndpoint(current.found, found);
      next = isBack ? undefined : { found, since: answeredAt };
    } catch (error) {
      const { isAnswer, cause, ...diagnosis } = diagnoseLookUp(error);
      againAt = performance.now() + againMs;
      if (isAnswer) answeredAt = performance.now();
      why = `${diagnosis.hubSaid} (${diagnosis.setting})`;
      const message = 'the hub’s event endpoint cannot be looked up';
      troubles.raise(notFound, { level: 'warn', message, fields: { cause }, diagnosis });
    }
  }

  function tellFailover(from: EventEndpoint, to: EventEndpoint) {
    countChange();
    log.warn({ from: nameOf(from), to: nameOf(to) }, 'the hub has failed over: it has another event endpoint');
  }

  /** The messages that are read, and not done, belong to the checkpoints of the endpoint before. */
  const hasFinished = ({ since }: Next) =>
    current === undefined || current.consumer.waiting().messages === 0 || performance.now() - since >= limits.finishMs;

  async function change({ found }: Next): Promise<void> {
    const before = current;
    const after = before && newest && new Date(newest.getTime() - limits.overlapMs);
    const { namespace, eventHub } = found;
    const entry = await enter({ namespace, eventHub, since: new Date(), after });
    const start = startAt(entry);
    const consumer = await open(found, start, seen);
    troubles.clear(notOpened);
    const unfinished = before?.consumer.waiting().messages ?? 0;
    await before?.consumer.stop();
    current = undefined;
    await othersLeave(entry.others);
    if (!isStopping && next?.found !== found) return consumer.stop(); // the hub has failed over again meanwhile
    current = { found, consumer };
    next = undefined;
    newest = undefined;
    eventAt = performance.now();
    const last = entry.others.at(-1);
    if (before === undefined && entry.isNew && last) tellFailover(last, found);
    if (isStopping) return;
    if (before) log.info({ endpoint: nameOf(found) }, 'the hub can be read again');
    const fields = { endpoint: nameOf(found), start: start instanceof Date ? start.toISOString() : start };
    log.info({ ...fields, ...(before && { unfinished }) }, 'the hub’s event endpoint is found');
    consumer.start();
  }

  function startAt({ endpoint, others }: EndpointEntry): StartPosition {
    if (others.length === 0) return startPosition;
    return failoverPosition === 'overlap' ? (endpoint.after ?? 'earliest') : failoverPosition;
  }

  /**
   * So that no message of a device begins while another instance still has an earlier one in work (G2). Ends when the hub names
   * another endpoint, too: the others may be there for good.
   */
  async function othersLeave(endpoints: readonly EventEndpoint[]): Promise<void> {
    if (endpoints.length === 0) return;
    const awaited = next;
    const until = performance.now() + limits.othersMs;
    while (!isStopping && performance.now() < until && (await ownedByOthers(endpoints).catch(() => 1)) > 0) {
      why = 'other instances still have work of the endpoint before';
      await new Promise((resolve) => setTimeout(resolve, everyMs));
      if (times.isDue(true, eventAt)) await ask();
      if (next !== awaited) return;
    }
  }

  function couldNotOpen(error: unknown) {
    againAt = performance.now() + againMs;
    why = error instanceof Error ? error.message : String(error);
    const message = 'the hub’s event endpoint cannot be opened; trying again';
    troubles.raise(notOpened, { level: 'error', message, diagnosis: { err: error, ...storeFieldsOf(error) } });
  }

  const of = () => current?.consumer;

  return {
    start: repeating.start,
    missing: () => of()?.missing() ?? [`the hub’s event endpoint: ${why}`],
    silentForMs: () => of()?.silentForMs() ?? performance.now() - answeredAt,
    waiting: () => of()?.waiting() ?? { messages: 0, partitions: [] },
    partitions: () => of()?.partitions() ?? [],
    elsewhere: () => of()?.elsewhere() ?? [],
    unowned: () => of()?.unowned() ?? [],
    devices: (device) => of()?.devices(device) ?? [],
    stoodStill: (ms) => of()?.stoodStill(ms),
    async stop() {
      isStopping = true;
      void repeating.stop(); // a look-up may take long
      await changing;
      await of()?.stop();
    },
  };
}

const nameOf = ({ namespace, eventHub }: EventEndpoint): string => `${namespace}/${eventHub}`;
