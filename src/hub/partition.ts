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
  /** Something that must not happen has happened, and the partition goes on. */
  onTrouble(error: unknown, what: string): void;
  /** The partition cannot go on: somebody else owns it, or it has lost messages that it kept. It has been abandoned. */
  onGivenUp(): void;
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

interface Spooled {
  readonly ticket: Ticket;
  readonly done: () => void;
}

/** The longest the spool may take to give a message back. */
const spoolAnswersMs = 20_000;

/** One partition of the hub while this instance owns it. */
export interface Partition {
  /**
   * Takes events in hub order; answers when there is room for more. What it has seen before, it passes over, also when
   * a new subscription gives it again while the old one's are still waiting for room. Never rejects.
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
  const lanes = createLanes(changed);
  const watermark = createWatermark();
  const start = options.progress?.sequenceNumber ?? -1;
  /** Devices whose newest messages are in the spool: until it is empty, all their messages go there. */
  const spooled = new Map<string, Spooled[]>();
  const isDone = decodeCompletion(start, options.progress?.completed ?? '');
  const mayBeRepeat = ({ sequenceNumber }: HubEvent) => sequenceNumber <= options.horizon;
  let seen: Position | undefined = options.progress;
  let running = 0;
  let unwritten = 0;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let owned = true;
  let closing = false;
  let admitting = Promise.resolve();
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
      if (!(await options.checkpoint(progress))) giveUp();
    } catch (error) {
      unwritten += since;
      options.onTrouble(error, 'checkpoint not written');
    }
  }

  /** One write at a time; the newest progress wins. */
  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeOnce().finally(() => {
      writing = undefined;
      if (unwritten > 0 && !closing) writeLater();
    });
    return writing;
  }

  function writeLater() {
    timer ??= setTimeout(() => void write(), limits.everyMs).unref();
  }

  function countProgress() {
    unwritten += 1;
    if (unwritten >= limits.everyMessages) void write();
    else writeLater();
  }

  function abandon() {
    owned = false;
    closing = true;
    clearTimeout(timer);
    timer = undefined;
    changed();
  }

  function giveUp() {
    if (!owned) return;
    abandon();
    options.onGivenUp();
  }

  /** What is to be dispatched. An event that cannot even be looked at must not stop those behind it (G4). */
  function arrivalIn(event: HubEvent): A | undefined {
    try {
      return arrivalOf(event, mayBeRepeat(event));
    } catch (error) {
      options.onTrouble(error, 'event passed over');
      return undefined;
    }
  }

  /** Runs one message whose room in the budget has been taken. */
  async function work(arrival: A, bytes: number, done: () => void) {
    let charged = bytes;
    let handled = true;
    running += 1;
    try {
      handled = await dispatch(arrival, (more) => {
        charged += more;
        budget.grow(more);
      });
    } catch (error) {
      options.onTrouble(error, 'message given up');
    }
    running -= 1;
    budget.give(charged);
    if (handled) done();
    countProgress();
    changed();
  }

  async function workFromSpool({ ticket, done }: Spooled) {
    const event = await within(spool.take(ticket), spoolAnswersMs);
    const arrival = arrivalIn(event);
    if (arrival === undefined) {
      done();
      changed();
      return;
    }
    const bytes = sizeOf(event);
    await budget.take(bytes);
    if (closing) budget.give(bytes);
    else await work(arrival, bytes, done);
  }

  /** In order, until nothing of the device is left in the spool. */
  async function emptySpool(deviceId: string, queue: Spooled[]) {
    try {
      for (let next = queue.splice(0); next.length > 0; next = queue.splice(0)) {
        for (const one of next) if (!closing) await workFromSpool(one);
      }
    } catch (error) {
      if (!closing) options.onTrouble(error, 'spool cannot be read: reading the partition again from its checkpoint');
      giveUp();
    }
    spooled.delete(deviceId);
  }

  /** Answers whether there was room. A disk that is full for everybody is a full spool. */
  function putIntoSpool({ event, deviceId }: A): boolean {
    let ticket: Ticket | undefined;
    try {
      ticket = spool.put(event);
    } catch (error) {
      options.onTrouble(error, 'spool cannot be written');
    }
    if (ticket === undefined) return false;
    const one = { ticket, done: watermark.begin(positionOf(event)) };
    const queue = spooled.get(deviceId);
    if (queue) queue.push(one);
    else {
      const fresh = [one];
      spooled.set(deviceId, fresh);
      lanes.run(deviceId, () => emptySpool(deviceId, fresh));
    }
    return true;
  }

  /**
   * Behind what is in the spool nothing may take room: it would hold it in vain, while the spool waits for room.
   */
  const goesToSpool = (deviceId: string) => spooled.has(deviceId) || lanes.length(deviceId) >= limits.deviceMessages;

  /** The map of what is done above the watermark must fit into the checkpoint: wait for the watermark to move. */
  const mapIsFull = () => completionBytes(watermark.extentAbove()) > limits.maxMapBytes * 0.9;

  async function admitOne(arrival: A) {
    const { event, deviceId } = arrival;
    while (!closing && mapIsFull()) await change();
    while (!closing && goesToSpool(deviceId)) {
      if (putIntoSpool(arrival)) return;
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

  async function admitAll(events: readonly HubEvent[]) {
    for (const event of events) {
      if (closing) return;
      if (seen && event.sequenceNumber <= seen.sequenceNumber) continue;
      const arrival = isDone(event.sequenceNumber) ? undefined : arrivalIn(event);
      if (arrival) await admitOne(arrival);
      else {
        watermark.pass(event);
        countProgress();
      }
      if (!closing) seen = positionOf(event);
    }
  }

  return {
    admit(events) {
      admitting = admitting.then(() => admitAll(events));
      return admitting;
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
