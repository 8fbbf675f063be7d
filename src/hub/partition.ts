import type { HubEvent } from '../protocol/event.ts';
import type { Budget } from './budget.ts';
import { completionBytes, decodeCompletion, encodeCompletion } from './completionMap.ts';
import { createLanes } from './lanes.ts';
import type { Spool, Ticket } from './spool.ts';
import { createWatermark, type Position } from './watermark.ts';
import { within } from './within.ts';

/** An event that is to be handled, and the device whose order it keeps. */
export interface Arriving {
  readonly event: HubEvent;
  readonly deviceId: string;
}

/** How far a partition has come: everything up to the position, and what the map says above it. */
export interface Progress extends Position {
  /** See completionMap. */
  readonly completed: string;
}

/** What a partition needs of the rest of the service. */
export interface PartitionOptions<A extends Arriving> {
  /** Of this partition, and through it the overall one. */
  readonly budget: Budget;
  /**
   * What is to be dispatched of an event; undefined when it is to be passed over.
   * @param mayBeRepeat somebody may have handled it before, without having come to write that down
   */
  arrivalOf(event: HubEvent, mayBeRepeat: boolean): A | undefined;
  /**
   * Handles one message; never rejects. Answers whether it has been handled to its end.
   * @param charge adds to the bytes in work
   */
  dispatch(arrival: A, charge: (bytes: number) => void): Promise<boolean>;
  readonly progress: Progress | undefined;
  /** The newest event when the partition was taken over: up to it, others may have handled messages before. */
  readonly horizon: number;
  /** Writes the progress down. Answers false when somebody else owns the partition by now. */
  checkpoint(progress: Progress): Promise<boolean>;
  onCheckpointFailure(error: unknown): void;
  readonly spool: Spool;
  readonly limits: PartitionLimits;
}

export interface PartitionLimits {
  /** A checkpoint after so many messages, or so many milliseconds. */
  readonly everyMessages: number;
  readonly everyMs: number;
  /** Most messages of one device that are kept in memory; the others wait in the spool. */
  readonly deviceMessages: number;
  /** Size of the completion map beyond which intake waits. */
  readonly maxMapBytes: number;
}

/** One partition of the hub while this instance owns it. */
export interface Partition {
  /**
   * Takes events in hub order; answers when there is room for more. What it has seen before, it passes over. Never
   * rejects for anything an event contains.
   */
  admit(events: readonly HubEvent[]): Promise<void>;
  /** Where to read on. */
  position(): Position | undefined;
  /**
   * Takes nothing more and starts nothing more, waits for what is running, up to `limitMs`, and writes the last
   * checkpoint. Answers how many messages are left to whoever comes next.
   */
  drain(limitMs: number): Promise<number>;
  /** Ownership is lost: takes, starts and writes nothing any more. What is running goes on. */
  abandon(): void;
}

export function createPartition<A extends Arriving>(options: PartitionOptions<A>): Partition {
  const { budget, arrivalOf, dispatch, spool, limits } = options;
  const lanes = createLanes();
  const watermark = createWatermark();
  const start = options.progress?.sequenceNumber ?? -1;
  const isDone = decodeCompletion(start, options.progress?.completed ?? '');
  const mayBeRepeat = ({ sequenceNumber }: HubEvent) => sequenceNumber <= options.horizon;
  let seen: Position | undefined = options.progress;
  let running = 0;
  let unwritten = 0;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let owned = true;
  let closing = false;
  let waiting: (() => void)[] = [];

  /** Until a message has been handled, or the partition closes. */
  const change = () => new Promise<void>((resolve) => waiting.push(resolve));

  function changed() {
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  }

  function safeProgress(): Progress | undefined {
    const safe = watermark.safe() ?? options.progress;
    if (safe === undefined) return undefined;
    const { sequenceNumber, offset } = safe;
    return {
      sequenceNumber,
      offset,
      completed: encodeCompletion(sequenceNumber, watermark.doneAbove(), limits.maxMapBytes),
    };
  }

  async function writeOnce() {
    const progress = safeProgress();
    if (!owned || progress === undefined || unwritten === 0) return;
    const since = unwritten;
    unwritten = 0;
    try {
      if (!(await options.checkpoint(progress))) abandon();
    } catch (error) {
      unwritten += since;
      options.onCheckpointFailure(error);
      if (!closing) timer ??= setTimeout(() => void write(), limits.everyMs).unref();
    }
  }

  /** One write at a time; the newest progress wins. */
  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeOnce().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  function countProgress() {
    unwritten += 1;
    if (unwritten >= limits.everyMessages) void write();
    else timer ??= setTimeout(() => void write(), limits.everyMs).unref();
  }

  function abandon() {
    owned = false;
    closing = true;
    clearTimeout(timer);
    timer = undefined;
    changed();
  }

  /** Runs one message whose room in the budget has been taken. */
  async function work(arrival: A, bytes: number, done: () => void) {
    let charged = bytes;
    running += 1;
    const handled = await dispatch(arrival, (more) => {
      charged += more;
      budget.grow(more);
    });
    running -= 1;
    budget.give(charged);
    if (handled) done();
    countProgress();
    changed();
  }

  async function workFromSpool(ticket: Ticket, done: () => void) {
    const event = await spool.take(ticket);
    const arrival = arrivalOf(event, mayBeRepeat(event));
    const bytes = sizeOf(event);
    await budget.take(bytes);
    if (arrival && !closing) await work(arrival, bytes, done);
    else budget.give(bytes);
  }

  /** The map of what is done above the watermark must fit into the checkpoint: wait for the watermark to move. */
  const mapIsFull = () =>
    watermark.pending() * 3 > limits.maxMapBytes &&
    completionBytes(watermark.safe()?.sequenceNumber ?? start, watermark.doneAbove()) > limits.maxMapBytes * 0.9;

  async function admitOne(arrival: A) {
    const { event, deviceId } = arrival;
    while (!closing && mapIsFull()) await change();
    while (!closing && lanes.length(deviceId) >= limits.deviceMessages) {
      const ticket = spool.put(event);
      if (ticket) {
        const done = watermark.begin(positionOf(event));
        lanes.run(deviceId, () => (closing ? Promise.resolve() : workFromSpool(ticket, done)));
        return;
      }
      await change();
    }
    const bytes = sizeOf(event);
    const room = budget.take(bytes);
    if (room !== undefined) await room;
    if (closing) {
      budget.give(bytes);
      return;
    }
    const done = watermark.begin(positionOf(event));
    lanes.run(deviceId, async () => {
      if (closing) budget.give(bytes);
      else await work(arrival, bytes, done);
    });
  }

  return {
    async admit(events) {
      for (const event of events) {
        if (closing) return;
        if (seen && event.sequenceNumber <= seen.sequenceNumber) continue;
        const arrival = isDone(event.sequenceNumber) ? undefined : arrivalOf(event, mayBeRepeat(event));
        if (arrival) await admitOne(arrival);
        else {
          watermark.pass(event);
          countProgress();
        }
        if (!closing) seen = positionOf(event);
      }
    },
    position: () => seen,
    async drain(limitMs) {
      closing = true;
      changed();
      const until = Date.now() + limitMs;
      while (running > 0 && Date.now() < until) await within(change(), until - Date.now()).catch(() => {});
      if (writing !== undefined) await writing;
      await write();
      return watermark.pending();
    },
    abandon,
  };
}

const sizeOf = ({ body }: HubEvent): number => (body instanceof Uint8Array ? body.byteLength : 0);

const positionOf = ({ sequenceNumber, offset }: HubEvent): Position => ({ sequenceNumber, offset });
