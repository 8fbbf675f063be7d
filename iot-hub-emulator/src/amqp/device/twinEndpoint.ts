import rhea, { type EventContext, type Message } from 'rhea';
import { deviceTwin, type TwinAnswer } from '../../twins/deviceTwin.ts';
import { writeJson } from '../../values/json.ts';
import { Refusal } from '../../values/refusal.ts';
import { createOutlet } from '../link/credit.ts';
import { bodyIn, textOf } from '../link/decode.ts';
import { dispositions, type Incoming, refuse } from '../link/peer.ts';
import type { Endpoint } from './endpoint.ts';

// request: annotations operation = GET | PATCH | PUT | DELETE and resource, correlation id
// answer:  annotations status and version, the same correlation id; a change of desired properties has no correlation id
const reported = '/properties/reported';
const desired = '/notifications/twin/properties/desired';

const noCredit = new Refusal('amqp:resource-limit-exceeded', 'The device gives no credit for the changes of its twin.');

/** The device's own twin: requests come on one link, answers and changes go on the other. */
export const twinEndpoint: Endpoint = {
  serve(sender, { link, session }) {
    const outlet = createOutlet(sender, link);
    session.twinLink = outlet;
    link.onEnd(() => {
      if (session.twinLink === outlet) session.twinLink = undefined;
    });
  },

  accept(receiver, { hub, link, session }) {
    const { clientId } = session.login.identity;
    const twin = deviceTwin(clientId, hub.twins, hub.throttle);
    let stopWatching: (() => void) | undefined;
    const watch = (): TwinAnswer => {
      stopWatching ??= hub.twins.watch(clientId, (patch) => {
        const { twinLink } = session;
        if (twinLink?.hasRoom()) twinLink.send({ body: section(writeJson(patch)) });
        else if (twinLink) refuse(link, noCredit);
      });
      return { status: 200, body: '' };
    };
    const unwatch = (): TwinAnswer => {
      stopWatching?.();
      stopWatching = undefined;
      return { status: 204, body: '' };
    };
    const handle = (operation: string, body: string): TwinAnswer => {
      if (operation === 'GET ') return twin.get();
      if (operation === `PATCH ${reported}`) return twin.report(body);
      if (operation === `PUT ${desired}`) return watch();
      if (operation === `DELETE ${desired}`) return unwatch();
      return { status: 400, body: JSON.stringify('There is no such operation on a twin.') };
    };
    link.onEnd(unwatch);

    receiver.on('message', ({ message, delivery }: EventContext) => {
      const incoming = message as Incoming;
      const { operation, resource } = incoming.message_annotations ?? {};
      const { twinLink } = session;
      if (!twinLink) return dispositions(delivery).reject('amqp:not-allowed', 'The device has no link for the answer.');
      delivery?.accept();
      const asked = `${textOf(operation)} ${textOf(resource)}`;
      const { status, body, version } = handle(asked, bodyIn(incoming)?.toString('utf8') ?? '');
      twinLink.send({
        correlation_id: incoming.correlation_id,
        message_annotations: {
          status: rhea.types.wrap_int(status),
          ...(version === undefined ? {} : { version: rhea.types.wrap_long(version) }),
        },
        body: section(body),
      } as Message);
    });
  },
};

function section(text: string) {
  return rhea.message.data_section(Buffer.from(text));
}
