import type { PartitionBacklog } from './backlog.ts';
import { type Budget, isLarge } from './budget.ts';
import type { Quarantine } from './quarantine.ts';

/**
 * A *lane* is the queue of one device. Its messages are handled one at a time, in order of arrival; lanes run
 * concurrently (G2). A lane exists only while it has a message. Only a message in flight is charged (D27).
 */
export interface Lanes<M extends Queued> {
  /** Whether a message of the device may wait, with what it requires. */
  hasRoom(deviceId: string, bytes: number, requirement: Requirement): boolean;
  /** Appends a message to its lane, for which there is room. */
  add(deviceId: string, message: M): void;
  /** Begins a message that is already charged to the budget. Its lane must be empty. */
  begin(deviceId: string, message: M): void;
  /** For operators: each lane with its first message. */
  all(): Iterable<LaneView<M>>;
  /** For operators: what the first messages of lanes wait for; without those that are in flight. */
  waits(): ReadonlyMap<LaneView<M>, Wait>;
  count(): number;
  /** Messages in the lane, the one in flight included. */
  length(deviceId: string): number;
}

interface LanesOptions<M> {
  readonly budget: Pick<Budget, 'of'>;
  readonly backlog: Omit<PartitionBacklog, 'close'>;
  /** When aborted, no more messages begin. */
  readonly draining: AbortSignal;
  /** Handles a message and releases its part of the budget; resolves when the next one of the device may begin. Must not reject. */
  work(message: M, deviceId: string): Promise<void>;
  /** A lane has become shorter. */
  ended?(): void;
  /** When omitted, no message is a suspect. */
  readonly quarantine?: Pick<Quarantine, 'isSuspect' | 'turnOf' | 'putBack' | 'ended'> | undefined;
}

/** Room in the budget, its turn among the suspects, or backends. */
export type Wait = 'room' | 'turn' | Requirement;

/** A lane as others see it. */
export interface LaneView<M> {
  readonly deviceId: string;
  readonly first: M;
  readonly length: number;
}

interface Lane<M> {
  readonly deviceId: string;
  first: M;
  last: M;
  length: number;
  /** Bytes of the backlog, of those that wait. */
  waitingBytes: number;
  /** The backends that the first message waits for, and with it all others. */
  heldFor: readonly string[];
}

/** Lanes whose first message waits for the budget. */
interface Ready<M> {
  readonly lanes: Set<Lane<M>>;
  /** One iterator for all lanes: a new one for each would have to skip the deleted entries. */
  readonly inOrder: Iterator<Lane<M>>;
  /** The one that is in the line of the budget. */
  taking: Lane<M> | undefined;
}

function createReady<M>(): Ready<M> {
  const lanes = new Set<Lane<M>>();
  return { lanes, inOrder: lanes.values(), taking: undefined };
}

export function createLanes<M extends Queued>(options: LanesOptions<M>): Lanes<M> {
  const { budget, backlog, draining, work, ended, quarantine } = options;
  const lanes = new Map<string, Lane<M>>();
  /** A large message that waits for room delays no small one (D192). */
  const [small, large] = [createReady<M>(), createReady<M>()];
  /** Lanes whose first message waits for a requirement. */
  const held = new Map<Requirement, Lane<M>[]>();
  /** Lanes whose first message waits for its turn. */
  const suspected = new Set<Lane<M>>();

  async function run(lane: Lane<M>) {
    const { waitingBytes } = lane.first;
    if (waitingBytes > 0) {
      lane.waitingBytes -= waitingBytes;
      backlog.leave(waitingBytes);
    }
    await work(lane.first, lane.deviceId);
    const recorded = quarantine?.ended(lane.first.sequenceNumber);
    if (recorded !== undefined) await recorded;
    removeFirst(lane);
    beginReady();
  }

  function removeFirst(lane: Lane<M>) {
    lane.length -= 1;
    if (lane.first.next === undefined) lanes.delete(lane.deviceId);
    else {
      lane.first = lane.first.next as M;
      enqueue(lane);
    }
    ended?.();
  }

  async function beginInTurn(lane: Lane<M>, turn: Promise<boolean>) {
    suspected.add(lane);
    const isTurn = await turn;
    suspected.delete(lane);
    if (!isTurn) return;
    enqueue(lane);
    beginReady();
  }

  function enqueue(lane: Lane<M>) {
    if (lane.first.requirement.isMet()) readyFor(lane).lanes.add(lane);
    else hold(lane, lane.first.requirement);
  }

  const readyFor = ({ first }: Lane<M>): Ready<M> => (isLarge(first.cost) ? large : small);

  function beginReady() {
    beginThose(small);
    beginThose(large);
  }

  /** Only one lane at a time waits for the budget, so that a new message waits behind one lane, not behind all. */
  function beginThose(ready: Ready<M>) {
    while (ready.lanes.size > 0 && ready.taking === undefined && !draining.aborted) {
      const lane = ready.inOrder.next().value as Lane<M>;
      ready.lanes.delete(lane);
      const { deviceId } = lane;
      const { cost, requirement, sequenceNumber } = lane.first;
      if (!requirement.isMet()) {
        hold(lane, requirement);
        continue;
      }
      if (quarantine?.isSuspect(deviceId, sequenceNumber)) {
        void beginInTurn(lane, quarantine.turnOf(deviceId, sequenceNumber));
        continue;
      }
      const room = budget.of(cost).take(cost, draining);
      if (room === undefined) void run(lane);
      else void beginWhenTaken(room, lane, ready);
    }
  }

  async function beginWhenTaken(room: Promise<boolean>, lane: Lane<M>, ready: Ready<M>) {
    ready.taking = lane;
    const isTaken = await room;
    ready.taking = undefined;
    if (!isTaken) return;
    const { cost, requirement } = lane.first;
    if (requirement.isMet() && !draining.aborted) void run(lane);
    else {
      budget.of(cost).give(cost);
      hold(lane, requirement);
    }
    beginReady();
  }

  function hold(lane: Lane<M>, requirement: Requirement) {
    quarantine?.putBack(lane.deviceId, lane.first.sequenceNumber);
    lane.heldFor = requirement.needs ?? [];
    backlog.hold(waitingIn(lane), lane.heldFor);
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
    for (const lane of released.sort(inOrderOfArrival)) {
      backlog.release(waitingIn(lane), lane.heldFor);
      lane.heldFor = [];
      readyFor(lane).lanes.add(lane);
    }
    beginReady();
  }

  /** Of a lane whose first message waits, too. */
  const waitingIn = ({ length, waitingBytes }: Lane<M>) => ({ messages: length, bytes: waitingBytes });

  function laneOf(deviceId: string, message: M): Lane<M> {
    const { waitingBytes } = message;
    const lane = { deviceId, first: message, last: message, length: 1, waitingBytes, heldFor: [] };
    lanes.set(deviceId, lane);
    return lane;
  }

  return {
    hasRoom(deviceId, bytes, requirement) {
      const lane = lanes.get(deviceId);
      if (lane !== undefined) return backlog.hasRoom(bytes, lane.heldFor);
      return backlog.hasRoom(bytes, requirement.isMet() ? [] : (requirement.needs ?? []));
    },
    add(deviceId, message) {
      const lane = lanes.get(deviceId);
      backlog.enter(message.waitingBytes, lane?.heldFor ?? []);
      if (lane === undefined) {
        enqueue(laneOf(deviceId, message));
        beginReady();
        return;
      }
      lane.last.next = message;
      lane.last = message;
      lane.length += 1;
      lane.waitingBytes += message.waitingBytes;
    },
    begin(deviceId, message) {
      void run(laneOf(deviceId, message));
    },
    all: () => lanes.values(),
    count: () => lanes.size,
    waits() {
      const found = new Map<LaneView<M>, Wait>();
      for (const { lanes, taking } of [small, large]) {
        for (const lane of lanes) found.set(lane, 'room');
        if (taking) found.set(taking, 'room');
      }
      for (const lane of suspected) found.set(lane, 'turn');
      for (const [requirement, waiting] of held) for (const lane of waiting) found.set(lane, requirement);
      return found;
    },
    length: (deviceId) => lanes.get(deviceId)?.length ?? 0,
  };
}

const inOrderOfArrival = <M extends Queued>(one: Lane<M>, other: Lane<M>) =>
  one.first.sequenceNumber - other.first.sequenceNumber;

/** A condition for a message to begin: the backends that it needs are up (B5). */
export interface Requirement {
  isMet(): boolean;
  /** The backends: the share of the backlog that they have (B5), and for operators. */
  readonly needs?: readonly string[];
  /** Resolves with true when it is met, with false when `signal` is aborted. */
  met(signal: AbortSignal): Promise<boolean>;
}

/** A message in a lane. There may be very many, so this is a linked list without wrappers. */
export interface Queued {
  /** The next one of the same lane. */
  next?: Queued | undefined;
  readonly sequenceNumber: number;
  /** Bytes of the budget. */
  readonly cost: number;
  /** Bytes of the backlog; 0 when it has begun at once. */
  readonly waitingBytes: number;
  readonly requirement: Requirement;
}
