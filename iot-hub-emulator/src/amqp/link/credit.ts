import rhea, { type Message as AmqpMessage, type Sender } from 'rhea';
import type { Link } from '../../network/connections.ts';

// rhea keeps what all links of a session send in one queue: a message without credit stops those of the other links.

/** How many messages may still be handed to rhea for a link. */
export interface Credit {
  left(): number;
  /** One was handed to it. */
  use(): void;
}

/** The credit of a link, less what rhea has got and not sent yet. Both ends count transfers, as the AMQP specification defines. */
export function creditOf(sender: Sender): Credit {
  const state = sender as unknown as SenderState;
  let used = 0;
  return {
    left() {
      used = Math.max(used, state.delivery_count); // drained credit included
      return sender.sendable() ? state.credit + state.delivery_count - used : 0;
    },
    use() {
      used += 1;
    },
  };
}

/** A link on which the hub answers, as far as its client gives credit. */
export interface Outlet {
  /** Send a message, now or as soon as there is credit. The link ends when too much waits. */
  send(message: AmqpMessage): void;
  /** Whether a message would leave at once. */
  hasRoom(): boolean;
}

/** Most bytes that wait for credit. */
const mostWaiting = 1024 * 1024;
const tooMuchWaits = {
  condition: 'amqp:resource-limit-exceeded',
  description: 'The client gives no credit for the answers that it asks for.',
};

export function createOutlet(sender: Sender, link: Link): Outlet {
  const credit = creditOf(sender);
  const waiting: Buffer[] = [];
  let bytes = 0;

  const flush = (): void => {
    while (waiting.length > 0 && credit.left() > 0) {
      const message = waiting.shift() as Buffer;
      bytes -= message.length;
      credit.use();
      sender.send(message, undefined, 0);
    }
  };
  sender.on('sendable', flush);
  sender.on('sender_draining', () => {
    flush();
    sender.set_drained(true);
  });

  return {
    send(message) {
      const encoded = rhea.message.encode(message);
      waiting.push(encoded);
      bytes += encoded.length;
      flush();
      if (bytes > mostWaiting) link.detach(tooMuchWaits, true);
    },
    hasRoom: () => waiting.length === 0 && credit.left() > 0,
  };
}

/** Parts of rhea's sending links that its typings leave out. */
interface SenderState {
  readonly credit: number;
  readonly delivery_count: number;
}
