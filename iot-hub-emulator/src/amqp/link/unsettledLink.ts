import rhea, { type Message as AmqpMessage, type EventContext, type Sender } from 'rhea';
import type { Settlement } from '../../cloudToDevice/queue.ts';
import { creditOf } from './credit.ts';
import { sendUnsettled } from './links.ts';

const settlements = { accepted: 'complete', rejected: 'reject', released: 'abandon', modified: 'abandon' } as const;

/** A link on which the messages of a queue are delivered unsettled: the client settles each of them. */
export interface UnsettledLink<T> {
  receive(item: T): void;
  /** Whether there is credit for one more. */
  hasRoom(): boolean;
}

/**
 * Make a link, while it attaches, one of unsettled messages: accept completes one, reject removes it, release and modify
 * make it available again. `flush` is called when the client has given credit.
 */
export function deliverUnsettled<T extends { settle(how: Settlement): void }>(
  sender: Sender,
  encode: (item: T) => AmqpMessage,
  flush: () => void,
): UnsettledLink<T> {
  sendUnsettled(sender);
  const unsettled = new Map<unknown, T>();
  const credit = creditOf(sender);
  for (const [event, how] of Object.entries(settlements))
    sender.on(event, ({ delivery }: EventContext) => {
      unsettled.get(delivery)?.settle(how);
      unsettled.delete(delivery);
    });
  sender.on('sendable', flush);
  sender.on('sender_draining', () => {
    flush();
    sender.set_drained(true);
  });
  return {
    receive(item) {
      credit.use();
      unsettled.set(sender.send(rhea.message.encode(encode(item)), undefined, 0), item);
    },
    hasRoom: () => credit.left() > 0,
  };
}
