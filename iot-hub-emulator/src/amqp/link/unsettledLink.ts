import rhea, { type Message as AmqpMessage, type EventContext, type Sender } from 'rhea';
import type { Settlement } from '../../cloudToDevice/queue.ts';
import { sendUnsettled } from './links.ts';
import { transferCount, transferLimit } from './peer.ts';

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
  let sent = 0; // transfers handed to rhea, which counts only those that have left
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
      sent += 1;
      unsettled.set(sender.send(rhea.message.encode(encode(item)), undefined, 0), item);
    },
    hasRoom() {
      sent = Math.max(sent, transferCount(sender));
      return sent < transferLimit(sender) && sender.sendable();
    },
  };
}
