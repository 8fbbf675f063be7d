import type { EventContext } from 'rhea';
import type { Devicebound } from '../devicebound.ts';
import { Refusal } from '../refusal.ts';
import { fromAmqp } from './decode.ts';
import { type Incoming, type Node, refuse } from './peer.ts';

// to = /devices/{percent-encoded id}/messages/devicebound
const recipient = /^\/devices\/(?<id>[^/]+)\/messages\/devicebound$/i;

/** `/messages/devicebound`: where services send to devices. Needs the right of service connect. */
export function deviceboundNode(devicebound: Devicebound): Node {
  return {
    accept(receiver, { claims }) {
      const unauthorised = new Refusal('amqp:unauthorized-access', 'No token here gives the right of service connect.');
      if (!claims.find('serviceConnect', [])) return refuse(receiver, unauthorised);
      receiver.set_target({ address: receiver.target.address });
      receiver.on('message', ({ message, delivery }: EventContext) => {
        const claim = claims.find('serviceConnect', []);
        if (!claim) return refuse(receiver, unauthorised);
        try {
          const incoming = message as Incoming;
          devicebound.enqueue(deviceIdOf(incoming.to), fromAmqp(incoming), claim.policy);
          delivery?.accept();
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          delivery?.reject({ condition: error.condition, description: error.message });
        }
      });
    },
  };
}

function deviceIdOf(to: unknown): string {
  const id = typeof to === 'string' ? recipient.exec(to)?.groups?.['id'] : undefined;
  try {
    if (id !== undefined) return decodeURIComponent(id);
  } catch {
    // refused below, like any other address that names no device
  }
  throw new Refusal('com.microsoft:argument-error', "The message's `to` names no device.");
}
