import rhea, { type Message as AmqpMessage, type EventContext } from 'rhea';
import { createOutlet } from './credit.ts';
import type { Incoming, Node, Peer } from './peer.ts';

/** An answer: a status as in HTTP, its text, the error condition if it is a failure, and a body. */
export interface Answer {
  status: number;
  description: string;
  condition?: string;
  body?: unknown;
}

/**
 * A node of requests and answers, such as $cbs and $management. The answer goes to the link that `reply_to` names (its
 * name or target address), or else to the connection's latest link from this node: azure-iothub names none of its own.
 * Nothing goes back where there is no answer.
 */
export function requestNode(name: string, answer: (request: Incoming, peer: Peer) => Answer | undefined): Node {
  return {
    serve(sender, peer, link) {
      const target = (sender.target as { address?: string } | undefined)?.address;
      const outlet = createOutlet(sender, link);
      const keys = [name, `${name} ${sender.name}`, `${name} ${target}`];
      for (const key of keys) peer.replies.set(key, outlet);
      link.onEnd(() => {
        for (const key of keys) if (peer.replies.get(key) === outlet) peer.replies.delete(key);
      });
    },

    accept(receiver, peer) {
      receiver.on('message', ({ message, delivery }: EventContext) => {
        const request = message as Incoming;
        const link = peer.replies.get(`${name} ${request.reply_to}`) ?? peer.replies.get(name);
        delivery?.accept();
        const answered = answer(request, peer);
        if (answered) link?.send(envelope(request, answered));
      });
    },
  };
}

function envelope(request: Incoming, { status, description, condition, body }: Answer): AmqpMessage {
  const application_properties: Record<string, unknown> = {
    'status-code': rhea.types.wrap_int(status),
    'status-description': description,
  };
  if (condition !== undefined) application_properties['error-condition'] = rhea.types.wrap_symbol(condition);
  const answer: AmqpMessage = { application_properties, body };
  if (request.message_id !== undefined) answer.correlation_id = request.message_id;
  return answer;
}
