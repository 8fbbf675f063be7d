import rhea, { type Message as AmqpMessage, type EventContext, type Sender } from 'rhea';
import type { Settlement } from '../../cloudToDevice/queue.ts';
import { sendUnsettled } from './links.ts';
import { transferCount, transferLimit } from './peer.ts';

const settlements = { accepted: 'complete', rejected: 'reject', released: 'abandon', modified: 'abandon' } as const;

/** A link over which messages of a queue are lent out until the client says what becomes of them. */
export interface Lending<T> {
  take(handed: T): void;
  /** Whether there is credit for one more. */
  hasRoom(): boolean;
}

/**
 * Make a link, while it attaches, one of unsettled messages: accept completes one, reject drops it, release and modify
 * give it back. `flush` is called when the client has given credit.
 */
export function lend<T extends { settle(how: Settlement): void }>(
  sender: Sender,
  encode: (handed: T) => AmqpMessage,
  flush: () => void,
): Lending<T> {
  sendUnsettled(sender);
  const lent = new Map<unknown, T>();
  let sent = 0; // transfers handed to rhea, which counts only those that have left
  for (const [event, how] of Object.entries(settlements))
    sender.on(event, ({ delivery }: EventContext) => {
      lent.get(delivery)?.settle(how);
      lent.delete(delivery);
    });
  sender.on('sendable', flush);
  sender.on('sender_draining', () => {
    flush();
    sender.set_drained(true);
  });
  return {
    take(handed) {
      sent += 1;
      lent.set(sender.send(rhea.message.encode(encode(handed)), undefined, 0), handed);
    },
    hasRoom() {
      sent = Math.max(sent, transferCount(sender));
      return sent < transferLimit(sender) && sender.sendable();
    },
  };
}
