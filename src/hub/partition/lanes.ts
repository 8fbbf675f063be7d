import type { Verdict } from '../quarantine/quarantine.ts';
import type { Budget } from './budget.ts';
import type { Screening } from './screening.ts';

/** What has to be there before a message begins (B5). */
export interface Requirement {
  isMet(): boolean;
  /** Resolves when it is met (true), or when there is no point in waiting any more (false). */
  met(pointless: AbortSignal): Promise<boolean>;
}

/** What waits in a lane. Of these there may be very many. */
export interface Queued {
  /** The next one of the same lane. */
  next?: Queued | undefined;
  readonly sequenceNumber: number;
  /** Bytes of the budget. */
  readonly cost: number;
  readonly requirement: Requirement;
}

/**
 * A *lane* is the queue of one device: its messages are handled one after the other, in the order in which they came,
 * while the lanes of other devices run beside it (G2). A lane exists only while there is a message in it. Only the one in
 * work holds a place in the budget (D27).
 */
export interface Lanes<M extends Queued> {
  /** Queues a message behind what the lane already holds. */
  add(deviceId: string, message: M): void;
  /** Begins a message whose place in the budget has been taken. Its lane must be empty. */
  begin(deviceId: string, message: M): void;
  /** Messages that the lane holds, what is in work included. */
  length(deviceId: string): number;
}

interface LanesOptions<M> {
  readonly budget: Pick<Budget, 'take' | 'give'>;
  /** Aborted when nothing more is begun. */
  readonly draining: AbortSignal;
  /** Handles a message and gives its place back. Must not reject. */
  work(message: M): Promise<void>;
  /** A lane has become shorter. */
  ended?(): void;
  /** Nobody is a suspect when it is left out. */
  readonly screening?: Pick<Screening<M>, 'isSuspect' | 'try'> | undefined;
}

interface Lane<M> {
  readonly deviceId: string;
  first: M;
  last: M;
  length: number;
}

export function createLanes<M extends Queued>(options: LanesOptions<M>): Lanes<M> {
  const { budget, draining, work, ended, screening } = options;
  const lanes = new Map<string, Lane<M>>();
  /** Whose first message waits for a place. One iterator for good: it goes on behind the lane it gave last. */
  const ready = new Set<Lane<M>>();
  const ahead = ready.values();
  /** Whose first message waits for something that is not there. */
  const held = new Map<Requirement, Lane<M>[]>();
  let isTaking = false;

  async function run(lane: Lane<M>) {
    await work(lane.first);
    goOn(lane);
    beginReady();
  }

  function goOn(lane: Lane<M>) {
    lane.length -= 1;
    if (lane.first.next === undefined) lanes.delete(lane.deviceId);
    else {
      lane.first = lane.first.next as M;
      ready.add(lane);
    }
    ended?.();
  }

  async function tryFirst(lane: Lane<M>, trial: Promise<Verdict>) {
    const verdict = await trial;
    if (verdict === 'handled') goOn(lane);
    if (verdict === 'cleared') ready.add(lane);
    beginReady();
  }

  /** One lane at a time waits for a place: a message that comes new then waits for that lane, not for all of them. */
  function beginReady() {
    while (ready.size > 0 && !isTaking && !draining.aborted) {
      const lane = ahead.next().value as Lane<M>;
      ready.delete(lane);
      const { cost, requirement } = lane.first;
      if (!requirement.isMet()) {
        hold(lane, requirement);
        continue;
      }
      if (screening?.isSuspect(lane.first.sequenceNumber)) {
        void tryFirst(lane, screening.try(lane.deviceId, lane.first));
        continue;
      }
      const taking = budget.take(cost, draining);
      if (taking === undefined) void run(lane);
      else void beginWhenTaken(taking, lane);
    }
  }

  async function beginWhenTaken(taking: Promise<boolean>, lane: Lane<M>) {
    isTaking = true;
    const isTaken = await taking;
    isTaking = false;
    if (!isTaken) return;
    const { cost, requirement } = lane.first;
    if (requirement.isMet() && !draining.aborted) void run(lane);
    else {
      budget.give(cost);
      hold(lane, requirement);
    }
    beginReady();
  }

  function hold(lane: Lane<M>, requirement: Requirement) {
    const others = held.get(requirement);
    if (others) others.push(lane);
    else {
      held.set(requirement, [lane]);
      void release(requirement);
    }
  }

  async function release(requirement: Requirement) {
    if (!(await requirement.met(draining))) return;
    const released = held.get(requirement) ?? [];
    held.delete(requirement);
    for (const lane of released.sort(inOrderOfArrival)) ready.add(lane);
    beginReady();
  }

  function laneOf(deviceId: string, message: M): Lane<M> {
    const lane = { deviceId, first: message, last: message, length: 1 };
    lanes.set(deviceId, lane);
    return lane;
  }

  return {
    add(deviceId, message) {
      const lane = lanes.get(deviceId);
      if (lane === undefined) {
        ready.add(laneOf(deviceId, message));
        beginReady();
        return;
      }
      lane.last.next = message;
      lane.last = message;
      lane.length += 1;
    },
    begin(deviceId, message) {
      void run(laneOf(deviceId, message));
    },
    length: (deviceId) => lanes.get(deviceId)?.length ?? 0,
  };
}

const inOrderOfArrival = <M extends Queued>(one: Lane<M>, other: Lane<M>) =>
  one.first.sequenceNumber - other.first.sequenceNumber;
