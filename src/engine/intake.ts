import { pastMoment, timeOfDay } from '../concurrency/clocks.ts';
import type { Condition } from '../concurrency/waiting.ts';
import type { Publish } from '../observing/taps.ts';
import { type HubEvent, memoryWhileWaiting, textProperties } from '../protocol/event.ts';
import { type Budget, isLarge } from './budget.ts';
import type { Lanes, Requirement } from './lanes.ts';
import type { Quarantine } from './quarantine.ts';
import type { WorkHandle } from './watermark.ts';
import type { QueuedMessage } from './work.ts';

/** An event to be handled, and its device, of which all events are in one partition, in order (fact events.order). */
export interface DeviceEvent {
  readonly event: HubEvent;
  readonly deviceId: string;
}

export interface IntakeOptions<A> {
  readonly budget: Budget;
  readonly lanes: Lanes<QueuedMessage<A>>;
  readonly condition: Condition;
  readonly draining: AbortSignal;
  /** Bytes to reserve for a message before its handling begins (R6). */
  costOf(event: HubEvent): number;
  /** What a message requires to begin (B5); nothing when omitted. */
  requirementOf?(arrival: A): Requirement | undefined;
  /** Undefined while the device has no follower; it has none when omitted. */
  publisherOf?(arrival: A): Publish | undefined;
  /** Suspects go to their lanes and wait there for their turn. */
  readonly quarantine?: Quarantine | undefined;
  /** Registers an accepted message. */
  begin(event: HubEvent): WorkHandle;
}

const nothing: Requirement = { isMet: () => true, met: async () => true };

/** A message on its way in. */
interface IncomingMessage<A> {
  readonly arrival: A;
  readonly readAt: number;
  readonly publish: Publish | undefined;
  readonly requirement: Requirement;
  readonly cost: number;
  readonly enqueuedAt: number;
  /** Known once it has looked for room to wait. */
  waitingBytes: number | undefined;
  isWatched: boolean;
  isTold: boolean;
}

/**
 * Accepts one message. A message that can begin waits for the budget: that is the back-pressure. One whose device is
 * busy or whose backend is down waits in its lane, and delays other messages only when the backlog has no room (D27).
 */
export function createIntake<A extends DeviceEvent>(options: IntakeOptions<A>) {
  const { budget, lanes, condition, draining, costOf, requirementOf, publisherOf, quarantine, begin } = options;

  const canBegin = ({ arrival: { event, deviceId }, requirement }: IncomingMessage<A>): boolean =>
    lanes.length(deviceId) === 0 && requirement.isMet() && !quarantine?.isSuspect(deviceId, event.sequenceNumber);

  const messageOf = (one: IncomingMessage<A>, waitingBytes: number): QueuedMessage<A> => ({
    next: undefined,
    course: undefined,
    arrival: one.arrival,
    sequenceNumber: one.arrival.event.sequenceNumber,
    cost: one.cost,
    waitingBytes,
    requirement: one.requirement,
    begun: begin(one.arrival.event),
    readAt: one.readAt,
    enqueuedAt: one.enqueuedAt,
  });

  function publishWaits({ arrival: { deviceId }, requirement, publish }: IncomingMessage<A>, where: 'memory' | 'hub') {
    if (publish === undefined) return;
    const earlier = lanes.length(deviceId);
    const why = earlier > 0 ? 'earlier messages of the device' : requirement.isMet() ? 'its turn' : 'a backend';
    publish('waits', { where, for: why, earlier, needs: requirement.needs });
  }

  const beginIt = (one: IncomingMessage<A>) => lanes.begin(one.arrival.deviceId, messageOf(one, 0));

  /** Returns whether there was room. */
  function keepIt(one: IncomingMessage<A>): boolean {
    const { event, deviceId } = one.arrival;
    one.waitingBytes ??= memoryWhileWaiting(event);
    if (!lanes.hasRoom(deviceId, one.waitingBytes, one.requirement)) return false;
    publishWaits(one, 'memory');
    lanes.add(deviceId, messageOf(one, one.waitingBytes));
    return true;
  }

  /** The requirement can be met before there is room again. */
  function watch(one: IncomingMessage<A>) {
    if (one.isWatched || one.requirement.isMet()) return;
    one.isWatched = true;
    void one.requirement.met(draining).then(() => {
      one.isWatched = false;
      condition.changed();
    });
  }

  /** Begins or keeps the message, and returns undefined; else what it waits for, with true when it is charged then. */
  function place(one: IncomingMessage<A>): Promise<boolean> | undefined {
    if (draining.aborted) return undefined;
    const line = budget.of(one.cost);
    const isReady = canBegin(one);
    // A large message waits in its lane, where it delays no small one (D192).
    const isToWait = !isReady || (isLarge(one.cost) && !line.hasRoom(one.cost));
    if (isToWait && keepIt(one)) return undefined;
    if (isReady) {
      const taking = line.take(one.cost, draining);
      if (taking === undefined) beginIt(one);
      else one.publish?.('waits', { where: 'memory', for: 'room', earlier: 0 });
      return taking;
    }
    budget.sleeping.makeRoom();
    watch(one);
    if (!one.isTold) publishWaits(one, 'hub');
    one.isTold = true;
    return condition.change().then(() => false);
  }

  async function placeWhen(first: Promise<boolean>, one: IncomingMessage<A>): Promise<void> {
    for (let waiting: Promise<boolean> | undefined = first; waiting !== undefined; waiting = place(one)) {
      if (!(await waiting)) continue;
      if (canBegin(one) && !draining.aborted) return beginIt(one);
      budget.of(one.cost).give(one.cost);
    }
  }

  /**
   * @param readAt when the message was read from the hub, as `performance.now()`
   * @returns undefined when it need not wait
   * @throws what the parts that look at the message throw, before it is registered
   */
  return (arrival: A, readAt: number): Promise<void> | undefined => {
    const { event } = arrival;
    const publish = publisherOf?.(arrival);
    publish?.('read', readFields(event, readAt));
    const one: IncomingMessage<A> = {
      arrival,
      readAt,
      publish,
      requirement: requirementOf?.(arrival) ?? nothing,
      cost: costOf(event),
      enqueuedAt: pastMoment(event.enqueuedTimeUtc.getTime()),
      waitingBytes: undefined,
      isWatched: false,
      isTold: false,
    };
    const waiting = place(one);
    return waiting && placeWhen(waiting, one);
  };
}

/** For the followers of the device. */
const readFields = ({ body, properties = {}, enqueuedTimeUtc }: HubEvent, readAt: number) => ({
  hubWaitMs: Math.max(0, timeOfDay(readAt) - enqueuedTimeUtc.getTime()),
  bytes: body instanceof Uint8Array ? body.byteLength : undefined,
  properties: textProperties(properties),
});
