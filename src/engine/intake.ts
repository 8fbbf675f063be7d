import { dateOf, monotonicOfPast } from '../concurrency/clocks.ts';
import type { Publish } from '../observing/taps.ts';
import { type HubEvent, memoryWhileWaiting, textProperties } from '../protocol/event.ts';
import { isLarge } from './budget.ts';
import type { Dependencies, Lanes } from './lanes.ts';
import type { WorkHandle } from './watermark.ts';
import type { QueuedMessage, WorkOptions } from './work.ts';

/** An event to be handled, and its device, of which all events are in one partition, in order (fact events.order). */
export type DeviceEvent = { readonly event: HubEvent; readonly deviceId: string };

export interface IntakeOptions<A> extends Pick<WorkOptions<A>, 'budget' | 'condition' | 'draining' | 'quarantine'> {
  readonly lanes: Lanes<QueuedMessage<A>>;
  /** Bytes to reserve for a message before its handling begins (R6). */
  costOf(event: HubEvent): number;
  /** What a message requires to begin (B5); nothing when omitted. */
  dependenciesOf?(receivedMessage: A): Dependencies | undefined;
  /** Undefined while the device has no follower; it has none when omitted. */
  publisherOf?(receivedMessage: A): Publish | undefined;
  begin(event: HubEvent): WorkHandle;
}

const nothing: Dependencies = { areAvailable: () => true, met: async () => true };

const unregistered: WorkHandle = { done: true };

/** A message that can begin waits for the budget: that is the back-pressure. Another waits in its lane, and delays others only in a full backlog (D27). */
export function createIntake<A extends DeviceEvent>(options: IntakeOptions<A>) {
  const { budget, lanes, condition, draining, costOf, dependenciesOf, publisherOf, quarantine, begin } = options;
  /** The message at the door whose followers know that it waits, and the one whose requirement is watched. */
  let told: QueuedMessage<A> | undefined;
  let watched: QueuedMessage<A> | undefined;

  const canBegin = ({ receivedMessage: { deviceId }, sequenceNumber, dependencies }: QueuedMessage<A>): boolean =>
    lanes.length(deviceId) === 0 && dependencies.areAvailable() && !quarantine?.isSuspect(deviceId, sequenceNumber);

  function tellWaits(publish: Publish | undefined, message: QueuedMessage<A>, where: 'memory' | 'hub') {
    if (publish === undefined) return;
    const { receivedMessage, dependencies } = message;
    const earlier = lanes.length(receivedMessage.deviceId);
    const why = earlier > 0 ? 'earlier messages of the device' : dependencies.areAvailable() ? 'its turn' : 'a backend';
    publish('waits', { where, for: why, earlier, needs: dependencies.needs });
  }

  function beginIt(message: QueuedMessage<A>) {
    message.waitingBytes = 0;
    message.begun = begin(message.receivedMessage.event);
    lanes.begin(message.receivedMessage.deviceId, message);
  }

  function keepIt(message: QueuedMessage<A>, publish: Publish | undefined): boolean {
    const { event, deviceId } = message.receivedMessage;
    message.waitingBytes ||= memoryWhileWaiting(event);
    if (!lanes.hasRoom(deviceId, message.waitingBytes, message.dependencies)) return false;
    tellWaits(publish, message, 'memory');
    message.begun = begin(event);
    lanes.add(deviceId, message);
    return true;
  }

  /** The requirement can be met before there is room again. */
  function watch(message: QueuedMessage<A>) {
    if (watched === message || message.dependencies.areAvailable()) return;
    watched = message;
    void message.dependencies.met(draining).then(() => {
      watched = undefined;
      condition.changed();
    });
  }

  /** Begins or keeps the message, and returns undefined; else what it waits for, with true when it is charged then. */
  function place(message: QueuedMessage<A>, publish: Publish | undefined): Promise<boolean> | undefined {
    if (draining.aborted) return undefined;
    const { cost } = message;
    const line = budget.of(cost);
    const isReady = canBegin(message);
    // A large message waits in its lane, where it delays no small one (D192).
    const isToWait = !isReady || (isLarge(cost) && !line.hasRoom(cost));
    if (isToWait && keepIt(message, publish)) return undefined;
    if (isReady) {
      const taking = line.take(cost, draining);
      if (taking === undefined) beginIt(message);
      else publish?.('waits', { where: 'memory', for: 'room', earlier: 0 });
      return taking;
    }
    budget.sleeping.makeRoom();
    watch(message);
    if (told !== message) tellWaits(publish, message, 'hub');
    told = message;
    return condition.change().then(() => false);
  }

  async function placeWhen(first: Promise<boolean>, message: QueuedMessage<A>, publish: Publish | undefined) {
    for (let waiting: typeof first | undefined = first; waiting !== undefined; waiting = place(message, publish)) {
      if (!(await waiting)) continue;
      if (canBegin(message) && !draining.aborted) return beginIt(message);
      budget.of(message.cost).give(message.cost);
    }
  }

  /** Undefined when it need not wait; to be called again only after that. @throws what looks at the message throws, before it is registered */
  return (receivedMessage: A, readAt: number): Promise<void> | undefined => {
    const { event } = receivedMessage;
    told = undefined;
    const publish = publisherOf?.(receivedMessage);
    const { body, properties = {}, enqueuedTimeUtc } = event;
    publish?.('read', {
      hubWaitMs: Math.max(0, dateOf(readAt) - enqueuedTimeUtc.getTime()),
      bytes: body instanceof Uint8Array ? body.byteLength : undefined,
      properties: textProperties(properties),
    });
    const message: QueuedMessage<A> = {
      next: undefined,
      observation: undefined,
      receivedMessage,
      sequenceNumber: event.sequenceNumber,
      dependencies: dependenciesOf?.(receivedMessage) ?? nothing,
      cost: costOf(event),
      waitingBytes: 0,
      begun: unregistered,
      readAt,
      enqueuedAt: monotonicOfPast(enqueuedTimeUtc.getTime()),
    };
    const waiting = place(message, publish);
    return waiting && placeWhen(waiting, message, publish);
  };
}
