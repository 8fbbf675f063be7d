import { type Budget, isLarge } from './budget.ts';
import type { Quarantine } from './quarantine.ts';
import type { PartitionBacklog } from './rooms.ts';

/** A condition for a message to begin: the backends that it needs are up (B5). */
export interface Dependencies {
  areAvailable(): boolean;
  /** The backends: the share of the backlog that they have (B5), and for operators. */
  readonly needs?: readonly string[];
  /** Resolves with true when it is met, with false when `signal` is aborted. */
  met(signal: AbortSignal): Promise<boolean>;
}

/** A message in a lane. There may be very many, so this is a linked list without wrappers. */
export interface Queued {
  next?: Queued | undefined;
  readonly sequenceNumber: number;
  readonly cost: number;
  /** Bytes of the backlog; 0 when it has begun at once. */
  waitingBytes: number;
  readonly dependencies: Dependencies;
}

export interface Lane<M> {
  readonly deviceId: string;
  first: M;
  last: M;
  /** Messages, the one in flight included. */
  length: number;
  waitingBytes: number;
  /** What the first message waits for, and with it all others: room in the budget, its turn among the suspects, or backends. */
  wait: 'room' | 'turn' | Dependencies | undefined;
}

interface LanesOptions<M> {
  readonly budget: Pick<Budget, 'of'>;
  readonly backlog: Omit<PartitionBacklog, 'close'>;
  /** When aborted, no more messages begin. */
  readonly draining: AbortSignal;
  /** Handles a message and releases its part of the budget; resolves when the next one of the device may begin. Must not reject. */
  work(message: M, deviceId: string): Promise<void>;
  ended?(): void;
  readonly quarantine?: Pick<Quarantine, 'isSuspect' | 'turnOf' | 'putBack' | 'ended'> | undefined;
}

/** Lanes whose first message waits for the budget. One iterator for all: a new one for each would have to skip the deleted entries. */
function createReady<M>() {
  const lanes = new Set<Lane<M>>();
  return { lanes, inOrder: lanes.values(), isTaking: false };
}

export type Lanes<M extends Queued> = ReturnType<typeof createLanes<M>>;

/** A *lane* is the queue of one device, while it has messages: they are handled in order, lanes concurrently (G2). Only one in flight is charged (D27). */
export function createLanes<M extends Queued>(options: LanesOptions<M>) {
  const { budget, backlog, draining, work, ended, quarantine } = options;
  const lanes = new Map<string, Lane<M>>();
  /** A large message that waits for room delays no small one (D192). */
  const [small, large] = [createReady<M>(), createReady<M>()];
  const held = new Map<Dependencies, Lane<M>[]>();

  async function run(lane: Lane<M>) {
    lane.wait = undefined;
    const { waitingBytes } = lane.first;
    if (waitingBytes > 0) {
      lane.waitingBytes -= waitingBytes;
      backlog.give(waitingBytes);
    }
    await work(lane.first, lane.deviceId);
    const recorded = quarantine?.ended(lane.first.sequenceNumber);
    if (recorded !== undefined) await recorded;
    lane.length -= 1;
    if (lane.first.next === undefined) lanes.delete(lane.deviceId);
    else {
      lane.first = lane.first.next as M;
      enqueue(lane);
    }
    ended?.();
    beginReady();
  }

  async function beginInTurn(lane: Lane<M>, turn: Promise<boolean>) {
    lane.wait = 'turn';
    if (!(await turn)) return;
    enqueue(lane);
    beginReady();
  }

  function enqueue(lane: Lane<M>) {
    if (lane.first.dependencies.areAvailable()) makeReady(lane);
    else hold(lane, lane.first.dependencies);
  }

  function makeReady(lane: Lane<M>) {
    lane.wait = 'room';
    (isLarge(lane.first.cost) ? large : small).lanes.add(lane);
  }

  function beginReady() {
    beginThose(small);
    beginThose(large);
  }

  /** Only one lane at a time waits for the budget, so that a new message waits behind one lane, not behind all. */
  function beginThose(ready: typeof small) {
    while (ready.lanes.size > 0 && !ready.isTaking && !draining.aborted) {
      const lane = ready.inOrder.next().value as Lane<M>;
      ready.lanes.delete(lane);
      const { deviceId } = lane;
      const { cost, dependencies, sequenceNumber } = lane.first;
      if (!dependencies.areAvailable()) {
        hold(lane, dependencies);
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

  async function beginWhenTaken(room: Promise<boolean>, lane: Lane<M>, ready: typeof small) {
    ready.isTaking = true;
    const isTaken = await room;
    ready.isTaking = false;
    if (!isTaken) return;
    const { cost, dependencies } = lane.first;
    if (dependencies.areAvailable() && !draining.aborted) void run(lane);
    else {
      budget.of(cost).give(cost);
      hold(lane, dependencies);
    }
    beginReady();
  }

  function hold(lane: Lane<M>, dependencies: Dependencies) {
    quarantine?.putBack(lane.deviceId, lane.first.sequenceNumber);
    lane.wait = dependencies;
    backlog.hold(waitingIn(lane), backendsOf(lane));
    const others = held.get(dependencies);
    if (others) others.push(lane);
    else {
      held.set(dependencies, [lane]);
      void release(dependencies);
    }
  }

  async function release(dependencies: Dependencies) {
    if (!(await dependencies.met(draining))) return;
    const released = held.get(dependencies) ?? [];
    held.delete(dependencies);
    for (const lane of released.sort((one, other) => one.first.sequenceNumber - other.first.sequenceNumber)) {
      backlog.release(waitingIn(lane), backendsOf(lane));
      makeReady(lane);
    }
    beginReady();
  }

  function laneOf(deviceId: string, message: M): Lane<M> {
    const { waitingBytes } = message;
    const lane = { deviceId, first: message, last: message, length: 1, waitingBytes, wait: undefined };
    lanes.set(deviceId, lane);
    return lane;
  }

  return {
    /** Whether a message of the device may wait, with what it requires. */
    hasRoom(deviceId: string, bytes: number, dependencies: Dependencies): boolean {
      const lane = lanes.get(deviceId);
      return backlog.hasRoom(bytes, lane ? backendsOf(lane) : dependencies.areAvailable() ? none : dependencies.needs);
    },
    add(deviceId: string, message: M) {
      const lane = lanes.get(deviceId);
      backlog.enter(message.waitingBytes, lane && backendsOf(lane));
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
    /** Begins a message that is already charged to the budget. Its lane must be empty. */
    begin: (deviceId: string, message: M) => void run(laneOf(deviceId, message)),
    all: () => lanes.values(),
    count: () => lanes.size,
    length: (deviceId: string) => lanes.get(deviceId)?.length ?? 0,
  };
}

const none: readonly string[] = [];

/** Those that the first message of the lane waits for, and with it all others. */
const backendsOf = ({ wait }: Lane<unknown>) => (typeof wait === 'object' ? wait.needs : undefined) ?? none;

/** Of a lane whose first message waits, too. */
const waitingIn = ({ length, waitingBytes }: Lane<unknown>) => ({ messages: length, bytes: waitingBytes });
