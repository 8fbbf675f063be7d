import type { Registry } from '../identity/registry.ts';
import { type C2dOutcome, correlationOf } from '../journal/entry.ts';
import type { Journal } from '../journal/journal.ts';
import { sizeOtherwise } from '../otherwise/toDevice.ts';
import type { Ways } from '../otherwise/ways.ts';
import type { Table } from '../persistence/table.ts';
import { type Message, messageSize } from '../values/message.ts';
import { Refusal } from '../values/refusal.ts';
import { admit, type MessageRules } from './admission.ts';
import type { Feedback, FeedbackStatus } from './feedback.ts';
import {
  createLockedQueue,
  type DeliveryHistory,
  type LockedItem,
  type LockedQueue,
  type QueueRules,
  type Settlement,
} from './queue.ts';
import { fromStored, type QueuedMessage, type StoredMessage, toStored } from './queued.ts';

/** The rules of the cloud-to-device queues. */
export interface DeviceboundRules extends QueueRules, MessageRules {
  /** Messages a device may have in its queue. */
  pending: number;
}

/** What IoT Hub has unless changed. */
export const limits: DeviceboundRules = {
  pending: 50,
  bytes: 65_536,
  deliveries: 10,
  timeToLiveMs: 3600 * 1000,
  longestLifeMs: 2 * 24 * 3600 * 1000,
  lockMs: 60_000,
};

/** A queued message as it is delivered to a device. */
export interface Delivery {
  message: Message;
  /** When it was queued, in milliseconds since 1970. */
  enqueuedTime: number;
  /** 1 until the device abandons it, then one more each time. */
  deliveryCount: number;
  /** It was delivered before. */
  isRedelivered: boolean;
  /** Names this delivery, for `settle` of the queues. */
  lockToken: string;
  /** Settle it. No effect once the lock is lost. */
  settle(how: Settlement): void;
  /** Settle it as complete: it leaves the queue. */
  complete(): void;
}

/** The cloud-to-device queues, one for each device. */
export interface Devicebound {
  /**
   * Queue a message that a service sent under `policy`. Refuses with the condition that IoT Hub gives: unknown device,
   * too large, expires too late, queue or hub full, or (strict) property characters.
   */
  enqueue(deviceId: string, message: Message, policy: string): void;
  /**
   * The device listens: it gets everything pending, in order, then each message as it comes, as far as it has room. What its
   * protocol cannot say, by `takes`, it does not get, and it waits until it expires. The answer ends that; what was delivered
   * and not settled is pending again. One listener a device: a second one replaces the first.
   */
  listen(
    deviceId: string,
    deliver: (delivery: Delivery) => void,
    hasRoom?: () => boolean,
    takes?: (message: Message) => boolean,
  ): () => void;
  /** Deliver what is pending: the device has room again. */
  flush(deviceId: string): void;
  /** The device asks for one message, and gets the first that is available and that `takes` lets pass. */
  take(deviceId: string, takes: (message: Message) => boolean): Delivery | undefined;
  /** Settle what the device has under this token. False when the lock is lost, or there was none. */
  settle(deviceId: string, lockToken: string, how: Settlement): boolean;
  /** Remove all messages not yet settled, delivered ones included. The answer is how many. */
  purge(deviceId: string): number;
  /** Lose all messages of all devices, without feedback. */
  lose(): void;
  /** Messages not yet settled, delivered ones included, oldest first. */
  pending(deviceId: string): Message[];
  /** Stop the timers: no message expires after that. */
  close(): void;
}

interface DeviceQueue {
  queue: LockedQueue<QueuedMessage>;
  stop: (() => void) | undefined;
}

const statuses: { [K in C2dOutcome]?: FeedbackStatus } = {
  completed: 'Success',
  rejected: 'Rejected',
  expired: 'Expired',
  undeliverable: 'DeliveryCountExceeded',
  purged: 'Purged',
};

/** Queues in memory, and in `table` if there is one. `strict` refuses property characters that IoT Hub does not document as allowed. */
export function createDevicebound(options: {
  registry: Registry;
  journal: Journal;
  feedback: Feedback;
  rules: DeviceboundRules;
  /** Most bytes in all queues together. */
  bytes: number;
  strict: boolean;
  otherwise?: Ways;
  table?: Table<StoredMessage> | undefined;
  now: () => number;
}): Devicebound {
  const { registry, journal, feedback, rules, bytes: most, strict, otherwise = new Set(), table, now } = options;
  const queues = new Map<string, DeviceQueue>();
  let last = 0;
  let queuedBytes = 0;

  const store = (deviceId: string, queued: QueuedMessage, history: DeliveryHistory): void =>
    table?.put(queued.id, toStored(queued, deviceId, history));

  const settled = (deviceId: string, { id, message, messageId, bytes }: QueuedMessage, outcome: C2dOutcome): void => {
    queuedBytes -= bytes;
    table?.delete(id);
    journal.add({ kind: 'c2d-settled', deviceId, correlationId: correlationOf(message), messageId, outcome });
    const statusCode = statuses[outcome];
    if (!statusCode || !wanted(message.properties['iothub-ack'], outcome)) return;
    const deviceGenerationId = registry.get(deviceId)?.generationId ?? '';
    feedback.add({ originalMessageId: messageId, statusCode, deviceId, deviceGenerationId });
  };

  const queueOf = (deviceId: string): DeviceQueue => {
    const present = queues.get(deviceId);
    if (present) return present;
    const queue = createLockedQueue<QueuedMessage>({
      rules,
      now,
      onDelivery({ messageId, message }, deliveryCount) {
        const correlationId = correlationOf(message);
        journal.add({ kind: 'c2d-delivered', deviceId, correlationId, messageId, deliveryCount });
      },
      onChange: (queued, history) => store(deviceId, queued, history),
      onOutcome: (queued, outcome) => settled(deviceId, queued, outcome),
    });
    const created = { queue, stop: undefined };
    queues.set(deviceId, created);
    return created;
  };

  const check = (queue: LockedQueue<QueuedMessage>, message: Message): void => {
    admit(message, { ...rules, bytes: rules.bytes - sizeOtherwise(message, otherwise) }, strict, now());
    if (queue.items().length >= rules.pending)
      throw new Refusal(
        'amqp:resource-limit-exceeded',
        `ErrorCode:DeviceMaximumQueueDepthExceeded;403004: the device has ${rules.pending} messages pending already.`,
      );
    if (queuedBytes + messageSize(message) > most)
      throw new Refusal(
        'com.microsoft:server-busy',
        `The hub keeps ${most} bytes of messages to devices, and has them.`,
      );
  };

  for (const [id, stored] of table?.entries() ?? []) {
    const queued = fromStored(id, stored);
    last = Math.max(last, Number(id));
    queuedBytes += queued.bytes;
    queueOf(stored.deviceId).queue.add(queued, queued.expiresAt, {
      abandoned: stored.abandoned ?? 0,
      handed: stored.handed ?? false,
    });
  }

  registry.watch((change, { clientId }) => {
    const removed = change === 'deleted' ? queues.get(clientId) : undefined;
    if (!removed) return;
    queues.delete(clientId);
    for (const queued of removed.queue.clear()) settled(clientId, queued, 'device-deleted');
  });

  return {
    enqueue(deviceId, message, policy) {
      const arrived = { kind: 'c2d', deviceId, correlationId: correlationOf(message), policy } as const;
      try {
        const device = registry.get(deviceId);
        if (device?.moduleId !== undefined || !device)
          throw new Refusal('amqp:not-found', 'There is no device of this id.');
        const { queue } = queueOf(deviceId);
        check(queue, message);
        const requestedExpiry = Date.parse(message.system.expiryTime ?? '');
        const expiresAt = Number.isNaN(requestedExpiry) ? now() + rules.timeToLiveMs : requestedExpiry;
        last += 1;
        const messageId = message.system.messageId ?? '';
        const bytes = messageSize(message);
        const queued = { id: String(last), message, messageId, enqueuedTime: now(), expiresAt, bytes };
        store(deviceId, queued, { abandoned: 0, handed: false });
        queuedBytes += bytes;
        journal.add({ ...arrived, ...message });
        queue.add(queued, expiresAt);
      } catch (error) {
        if (error instanceof Refusal) {
          const { condition, message: description } = error;
          journal.add({ ...arrived, ...message, refused: { condition, description } });
        }
        throw error;
      }
    },

    listen(deviceId, deliver, hasRoom = () => true, takes = () => true) {
      const own = queueOf(deviceId);
      own.stop?.();
      const stop = own.queue.open({
        hasRoom,
        takes: ({ message }) => takes(message),
        receive: (locked) => deliver(deliveryOf(locked)),
      });
      own.stop = stop;
      return stop;
    },

    purge(deviceId) {
      const purged = queues.get(deviceId)?.queue.clear() ?? [];
      for (const queued of purged) settled(deviceId, queued, 'purged');
      return purged.length;
    },

    lose() {
      for (const [deviceId, { queue }] of queues) for (const queued of queue.clear()) settled(deviceId, queued, 'lost');
    },

    close() {
      for (const { queue } of queues.values()) queue.close();
    },
    take(deviceId, takes) {
      const taken = queues.get(deviceId)?.queue.take(({ message }) => takes(message));
      return taken && deliveryOf(taken);
    },
    settle: (deviceId, lockToken, how) => queues.get(deviceId)?.queue.settle(lockToken, how) ?? false,
    flush: (deviceId) => queues.get(deviceId)?.queue.flush(),
    pending: (deviceId) =>
      queues
        .get(deviceId)
        ?.queue.items()
        .map(({ message }) => message) ?? [],
  };
}

const deliveryOf = ({ item: { message, enqueuedTime }, ...locked }: LockedItem<QueuedMessage>): Delivery => ({
  ...locked,
  message,
  enqueuedTime,
  complete: () => locked.settle('complete'),
});

// iothub-ack = none | positive | negative | full
function wanted(ack: string | undefined, outcome: C2dOutcome): boolean {
  return ack === 'full' || ack === (outcome === 'completed' ? 'positive' : 'negative');
}
