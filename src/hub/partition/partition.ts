import { setMaxListeners } from 'node:events';
import type { HubEvent } from '../../protocol/event.ts';
import { within } from '../within.ts';
import type { Budget } from './budget.ts';
import { type CheckpointLimits, type CheckpointOptions, createCheckpoints } from './checkpoints.ts';
import type { Horizon } from './horizon.ts';
import { createLanes } from './lanes.ts';
import { createOverflow } from './overflow.ts';
import type { Spool } from './spool.ts';
import type { Position } from './watermark.ts';

/** An event that is to be handled, and the device whose order it keeps. */
export interface Arriving {
  readonly event: HubEvent;
  readonly deviceId: string;
}

/** What a message in work knows of its partition. */
export interface Stay {
  /** Adds to the bytes in work. */
  charge(bytes: number): void;
  /** Aborted when nothing more is begun: what still waits to begin is left to whoever reads the partition next. */
  readonly closing: AbortSignal;
  /** Aborted when what is running is left to others, too: no further call is made, no further reply is sent. */
  readonly gone: AbortSignal;
}

/** What a partition needs of the rest of the service. */
export interface PartitionOptions<A extends Arriving> extends Omit<CheckpointOptions, 'limits' | 'onLost'> {
  /** Of this partition, and through it the overall one. */
  readonly budget: Budget;
  /**
   * What is to be dispatched of an event; undefined when it is to be passed over.
   * @param mayBeRepeat somebody may have handled it before, without having come to write that down
   */
  arrivalOf(event: HubEvent, mayBeRepeat: boolean): A | undefined;
  /** Handles one message; never rejects. Answers whether it has been handled to its end. */
  dispatch(arrival: A, stay: Stay): Promise<boolean>;
  readonly horizon: Horizon;
  /** Something that must not happen has happened, and the partition goes on. */
  onTrouble(error: unknown, what: string): void;
  /** The partition cannot go on: somebody else owns it, or it has lost messages that it kept. It has been abandoned. */
  onGivenUp(): void;
  readonly spool: Spool;
  readonly limits: PartitionLimits;
}

export interface PartitionLimits extends CheckpointLimits {
  /** Most messages of one device that are kept in memory; the others wait in the spool. */
  readonly deviceMessages: number;
}

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
   * Takes nothing more and begins nothing more, waits for what is running, up to `limitMs`, and writes the last
   * checkpoint. Answers how many messages are left to whoever comes next.
   */
  drain(limitMs: number): Promise<number>;
  /** Ownership is lost: takes, begins and writes nothing any more, and what is running ends at its next step. */
  abandon(): void;
}

/** Between messages for the spool when the map of what is done is full: rather slow than standing still. */
const longestPauseMs = 1_000;

export function createPartition<A extends Arriving>(options: PartitionOptions<A>): Partition {
  const { budget, arrivalOf, dispatch, spool, limits, horizon, onTrouble } = options;
  const closing = endlessly(new AbortController());
  const gone = endlessly(new AbortController());
  const isClosing = () => closing.signal.aborted;
  const lanes = createLanes(changed);
  const checkpoints = createCheckpoints({ ...options, onLost: giveUp });
  const overflow = createOverflow({
    spool,
    run: lanes.run,
    handle: handleFromSpool,
    isClosing,
    onTrouble,
    onLost: giveUp,
  });
  let seen: Position | undefined = options.progress;
  let running = 0;
  let admitting = Promise.resolve();
  let waiting: (() => void)[] = [];

  /** Until a message has been handled, or the partition closes. */
  const change = () => new Promise<void>((resolve) => waiting.push(resolve));

  /** For so long at most, in milliseconds. */
  async function waitWhile(isSo: () => boolean, limitMs: number) {
    const until = performance.now() + limitMs;
    while (isSo() && performance.now() < until) await within(change(), until - performance.now()).catch(() => {});
  }

  function changed() {
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  }

  function abandon() {
    checkpoints.stop(true);
    closing.abort();
    gone.abort();
    changed();
  }

  function giveUp() {
    if (gone.signal.aborted) return;
    abandon();
    options.onGivenUp();
  }

  /** What is to be dispatched. An event that cannot even be looked at must not stop those behind it (G4). */
  function arrivalIn(event: HubEvent): A | undefined {
    try {
      return arrivalOf(event, horizon.mayBeRepeat(event.sequenceNumber));
    } catch (error) {
      onTrouble(error, 'event passed over');
      return undefined;
    }
  }

  /** Handles one message whose room in the budget has been taken, unless it is too late to begin. */
  async function work(arrival: A, done: () => void) {
    let charged = sizeOf(arrival.event);
    let handled = !isClosing();
    if (handled) {
      running += 1;
      const charge = (more: number) => {
        charged += more;
        budget.grow(more);
      };
      try {
        handled = await dispatch(arrival, { charge, closing: closing.signal, gone: gone.signal });
      } catch (error) {
        onTrouble(error, 'message given up');
      }
      running -= 1;
    }
    budget.give(charged);
    if (handled) done();
    changed();
  }

  async function handleFromSpool(event: HubEvent, done: () => void) {
    const arrival = arrivalIn(event);
    if (arrival === undefined) {
      done();
      changed();
      return;
    }
    await budget.take(sizeOf(event));
    await work(arrival, done);
  }

  /** Behind what is in the spool nothing may take room: it would hold it in vain, while the spool waits for room. */
  const overflows = (deviceId: string) => overflow.has(deviceId) || lanes.length(deviceId) >= limits.deviceMessages;

  async function admitOne(arrival: A) {
    const { event, deviceId } = arrival;
    const begin = () => {
      seen = positionOf(event); // at once: a stop may come before the next event's turn, and asks how far this came
      return checkpoints.begin(seen);
    };
    if (overflows(deviceId)) await waitWhile(() => !isClosing(), longestPauseMs * checkpoints.crowding());
    while (!isClosing() && overflows(deviceId)) {
      if (overflow.put(event, deviceId, begin)) return;
      await change();
    }
    const room = budget.take(sizeOf(event));
    if (room !== undefined) await room;
    if (isClosing()) {
      budget.give(sizeOf(event));
      return;
    }
    const done = begin();
    lanes.run(deviceId, () => work(arrival, done));
  }

  async function admitAll(events: readonly HubEvent[]) {
    if (events.length > 0) await horizon.look();
    for (const event of events) {
      if (isClosing()) return;
      if (seen && event.sequenceNumber <= seen.sequenceNumber) continue;
      const arrival = checkpoints.isDone(event.sequenceNumber) ? undefined : arrivalIn(event);
      if (arrival) await admitOne(arrival);
      else {
        seen = positionOf(event);
        checkpoints.pass(seen);
      }
    }
  }

  return {
    admit(events) {
      admitting = admitting.then(() => admitAll(events));
      return admitting;
    },
    position: () => seen,
    async drain(limitMs) {
      closing.abort();
      changed();
      await waitWhile(() => running > 0, limitMs);
      gone.abort();
      await checkpoints.flush();
      checkpoints.stop(false);
      return checkpoints.pending();
    },
    abandon,
  };
}

/** Any number of messages may wait for a signal at the same time. */
function endlessly(controller: AbortController): AbortController {
  setMaxListeners(0, controller.signal);
  return controller;
}

const sizeOf = ({ body }: HubEvent): number => (body instanceof Uint8Array ? body.byteLength : 0);

const positionOf = ({ sequenceNumber, offset }: HubEvent): Position => ({ sequenceNumber, offset });
