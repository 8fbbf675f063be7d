import type { EventContext } from 'rhea';
import { maxEventSize } from '../../events/events.ts';
import { answer } from '../../faults/answering.ts';
import { messageSize } from '../../values/message.ts';
import { Refusal } from '../../values/refusal.ts';
import { unpack } from '../link/batch.ts';
import { fromDevice } from '../link/decode.ts';
import { dispositions } from '../link/peer.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * Device-to-cloud messages, singly or in batches; a batch is taken in whole or not at all. From here modules also
 * receive what is routed to their inputs: nothing, in a hub without routes.
 */
export const telemetryEndpoint: Endpoint = {
  serve: () => undefined,
  accept(receiver, { hub, peer, link, session }) {
    receiver.on('message', (context: EventContext) => {
      const take = (refusal: Refusal | undefined) => () => {
        if (refusal) throw refusal;
        if (link.allowed?.() === false) throw new Refusal('amqp:unauthorized-access', 'The token has expired.');
        const messages = unpack(context).messages.map(fromDevice);
        if (messages.reduce((sum, message) => sum + messageSize(message), 0) > maxEventSize)
          throw new Refusal('amqp:link:message-size-exceeded', 'Messages and batches may have 256 KB.');
        for (const message of messages) hub.events.accept(session.login, message);
      };
      const { deviceId } = session.login.identity;
      const { connection } = peer;
      const arrival = { kind: 'd2c', deviceId, connection, link } as const;
      hub.throttle.shape('d2c', (refusal) =>
        answer(hub.faults, arrival, take(refusal), dispositions(context.delivery)),
      );
    });
  },
};
