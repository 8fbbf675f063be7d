import type { EventContext } from 'rhea';
import type { HubCore } from '../core/core.ts';
import { answer } from '../faults/answering.ts';
import { correlationOf } from '../journal/entry.ts';
import { messageRefusal } from '../otherwise/refusals.ts';
import { messageOtherwise } from '../otherwise/toDevice.ts';
import { Refusal } from '../values/refusal.ts';
import { detachWhenSilent } from './idleLink.ts';
import { fromAmqp, textOf } from './link/decode.ts';
import { dispositions, type Incoming, type Node, refuse } from './link/peer.ts';

// to = /devices/{percent-encoded id}/messages/devicebound
const recipient = /^\/devices\/(?<id>[^/]+)\/messages\/devicebound$/i;

/** `messages/devicebound`: where services send to devices. Needs the right of service connect, or an identity's to send messages. */
export function deviceboundNode({ devicebound, throttle, faults, journal, idle, otherwise }: HubCore): Node {
  return {
    accept(receiver, { claims, connection }, link) {
      const unauthorised = new Refusal('amqp:unauthorized-access', 'No token here gives the right of service connect.');
      const find = () => claims.find('serviceConnect', []) ?? claims.find('messageSend', []);
      if (!find()) throw unauthorised;
      link.allowed = () => find() !== undefined;
      detachWhenSilent(receiver, link, idle.devicebound);
      receiver.on('message', ({ message, delivery }: EventContext) => {
        const claim = find();
        if (!claim) return refuse(link, unauthorised);
        const incoming = message as Incoming;
        const deviceId = deviceIdOf(incoming.to);
        const enqueue = (refusal: Refusal | undefined) => {
          if (deviceId === undefined) throw noRecipient;
          if (refusal) throw refusal;
          if (faults.strike('quota')) throw quotaUsedUp;
          devicebound.enqueue(
            deviceId,
            messageOtherwise(fromAmqp(incoming), otherwise, isUuid(incoming)),
            claim.policy,
          );
        };
        const take = (refusal: Refusal | undefined) => () => {
          try {
            enqueue(refusal);
          } catch (error) {
            throw error instanceof Refusal ? messageRefusal(error, otherwise) : error;
          }
        };
        const onFault = (how: string): void => {
          const system = { correlationId: textOf(incoming.correlation_id) };
          const correlationId = correlationOf({ system, properties: incoming.application_properties ?? {} });
          const messageId = textOf(incoming.message_id);
          journal.add({ kind: 'c2d-fault', deviceId: deviceId ?? '', messageId, correlationId, answer: how });
        };
        const arrival = { kind: 'c2d', deviceId, connection, link, onFault } as const;
        throttle.shape('c2d', (refusal) => answer(faults, arrival, take(refusal), dispositions(delivery)));
      });
    },
  };
}

/** rhea gives UUIDs as bytes. */
const isUuid = (incoming: Incoming) => (id: 'messageId' | 'correlationId') =>
  Buffer.isBuffer(id === 'messageId' ? incoming.message_id : incoming.correlation_id);

const quotaUsedUp = new Refusal(
  'amqp:resource-limit-exceeded',
  'ErrorCode:IotHubQuotaExceeded;403002: the messages of this day are used up.',
);
const noRecipient = new Refusal('com.microsoft:argument-error', "The message's `to` names no device.");

function deviceIdOf(to: unknown): string | undefined {
  const id = typeof to === 'string' ? recipient.exec(to)?.groups?.['id'] : undefined;
  try {
    return id === undefined ? undefined : decodeURIComponent(id);
  } catch {
    return undefined; // like any other address that names no device
  }
}
