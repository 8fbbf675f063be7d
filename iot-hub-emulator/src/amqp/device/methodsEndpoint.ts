import rhea, { type EventContext } from 'rhea';
import { createOutlet } from '../link/credit.ts';
import { bodyIn, textOf } from '../link/decode.ts';
import type { Incoming } from '../link/peer.ts';
import type { Endpoint } from './endpoint.ts';

const nameProperty = 'IoThub-methodname';
const statusProperty = 'IoThub-status';

/** Direct methods: calls on one link, answers on another, matched by their correlation id. */
export const methodsEndpoint: Endpoint = {
  serve(sender, { hub, link, session }) {
    const outlet = createOutlet(sender, link);
    const stop = hub.methods.listen(session.login.identity.clientId, ({ requestId, methodName, payload }) =>
      outlet.send({
        correlation_id: requestId,
        application_properties: { [nameProperty]: methodName },
        body: rhea.message.data_section(Buffer.from(payload)),
      }),
    );
    link.onEnd(stop);
  },
  accept(receiver, { hub, session }) {
    receiver.on('message', ({ message, delivery }: EventContext) => {
      const incoming = message as Incoming;
      const status = Number(incoming.application_properties?.[statusProperty]);
      const { clientId } = session.login.identity;
      hub.methods.answer(clientId, textOf(incoming.correlation_id), status, bodyIn(incoming));
      delivery?.accept();
    });
  },
};
