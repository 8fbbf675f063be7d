import type { C2dOutcome, Journal } from './journal.ts';
import { type Message, messageSize } from './message.ts';
import { Refusal } from './refusal.ts';
import type { Registry } from './registry.ts';
import { strictlyValid } from './strictProperties.ts';

/** The rules of the cloud-to-device queue; what IoT Hub has unless changed. */
export const limits = { pending: 50, bytes: 65_536, deliveries: 10, timeToLiveMs: 3600 * 1000 };

/** A queued message as it is handed to a device. `complete` takes it off the queue. */
export interface Delivery {
  message: Message;
  /** 1 the first time. */
  deliveryCount: number;
  complete(): void;
}

/** The cloud-to-device queues, one for each device. */
export interface Devicebound {
  /**
   * Queue a message that a service sent under `policy`. Refuses with the condition that IoT Hub gives: unknown device,
   * too large, queue full, or (strict) property characters.
   */
  enqueue(deviceId: string, message: Message, policy: string): void;
  /**
   * The device listens: it gets everything pending, in order, then each message as it comes. The answer ends that;
   * what was delivered and not completed is pending again. One listener a device: a second one replaces the first.
   */
  listen(deviceId: string, deliver: (delivery: Delivery) => void): () => void;
  /** Messages not yet completed, delivered ones included, oldest first. */
  pending(deviceId: string): Message[];
}

interface Queued {
  message: Message;
  messageId: string;
  expiresAt: number;
  deliveryCount: number;
  locked: boolean;
}

interface Queue {
  messages: Queued[];
  deliver: ((delivery: Delivery) => void) | undefined;
}

/** Queues in memory. `strict` refuses property characters that IoT Hub does not document as allowed. */
export function createDevicebound(options: {
  registry: Registry;
  journal: Journal;
  strict: boolean;
  now: () => number;
}): Devicebound {
  const { registry, journal, strict, now } = options;
  const queues = new Map<string, Queue>();

  const queueOf = (deviceId: string): Queue => {
    const queue = queues.get(deviceId) ?? { messages: [], deliver: undefined };
    queues.set(deviceId, queue);
    return queue;
  };

  const settle = (deviceId: string, queue: Queue, queued: Queued, outcome: C2dOutcome): void => {
    const at = queue.messages.indexOf(queued);
    if (at < 0) return;
    queue.messages.splice(at, 1);
    journal.add({ kind: 'c2d-settled', deviceId, messageId: queued.messageId, outcome });
  };

  const dropExpired = (deviceId: string, queue: Queue): void => {
    for (const queued of queue.messages.filter(({ locked, expiresAt }) => !locked && expiresAt <= now()))
      settle(deviceId, queue, queued, 'expired');
  };

  const flush = (deviceId: string, queue: Queue): void => {
    dropExpired(deviceId, queue);
    for (const queued of queue.messages.filter(({ locked }) => !locked)) {
      if (!queue.deliver) return;
      if (queued.deliveryCount >= limits.deliveries) {
        settle(deviceId, queue, queued, 'undeliverable');
        continue;
      }
      queued.locked = true;
      queued.deliveryCount += 1;
      const { message, messageId, deliveryCount } = queued;
      journal.add({ kind: 'c2d-delivered', deviceId, messageId, deliveryCount });
      queue.deliver({ message, deliveryCount, complete: () => settle(deviceId, queue, queued, 'completed') });
    }
  };

  const check = (deviceId: string, queue: Queue, message: Message): void => {
    if (messageSize(message) > limits.bytes)
      throw new Refusal('amqp:link:message-size-exceeded', 'A cloud-to-device message may have 65,536 bytes.');
    if (strict && !strictlyValid(message))
      throw new Refusal('com.microsoft:argument-error', 'A property has characters that IoT Hub does not allow.');
    dropExpired(deviceId, queue);
    if (queue.messages.length >= limits.pending)
      throw new Refusal('amqp:resource-limit-exceeded', 'The device has 50 messages pending already.');
  };

  registry.onDelete((deviceId) => {
    const queue = queues.get(deviceId);
    queues.delete(deviceId);
    if (queue) for (const queued of [...queue.messages]) settle(deviceId, queue, queued, 'device-deleted');
  });

  return {
    enqueue(deviceId, message, policy) {
      try {
        if (!registry.get(deviceId)) throw new Refusal('amqp:not-found', 'There is no device of this id.');
        const queue = queueOf(deviceId);
        check(deviceId, queue, message);
        const asked = Date.parse(message.system.expiryTime ?? '');
        const expiresAt = Number.isNaN(asked) ? now() + limits.timeToLiveMs : asked;
        const messageId = message.system.messageId ?? '';
        journal.add({ kind: 'c2d', deviceId, policy, ...message });
        queue.messages.push({ message, messageId, expiresAt, deliveryCount: 0, locked: false });
        flush(deviceId, queue);
      } catch (error) {
        if (error instanceof Refusal) {
          const { condition, message: description } = error;
          journal.add({ kind: 'c2d', deviceId, policy, ...message, refused: { condition, description } });
        }
        throw error;
      }
    },

    listen(deviceId, deliver) {
      const queue = queueOf(deviceId);
      const unlock = () => {
        for (const queued of queue.messages) queued.locked = false;
      };
      unlock();
      queue.deliver = deliver;
      flush(deviceId, queue);
      return () => {
        if (queue.deliver !== deliver) return;
        queue.deliver = undefined;
        unlock();
      };
    },

    pending: (deviceId) => (queues.get(deviceId)?.messages ?? []).map(({ message }) => message),
  };
}
