import { deviceTwin, type TwinAnswer } from '../twins/deviceTwin.ts';
import { writeJson } from '../values/json.ts';
import { type Feature, type FeatureContext, publication } from './channel.ts';

// from the device: $iothub/twin/GET/?$rid={request}, $iothub/twin/PATCH/properties/reported/?$rid={request}
// to it:           $iothub/twin/res/{status}/?$rid={request}[&$version={version}]
//                  $iothub/twin/PATCH/properties/desired/?$version={version}
const request = /^\$iothub\/twin\/(?<what>GET\/|PATCH\/properties\/reported\/)\?\$rid=(?<id>[^&]*)/;

/** The device's own twin. Nothing is answered to a device that has not subscribed to the answers. */
export function twinFeature({ hub, login, send }: FeatureContext): Feature {
  const { clientId } = login.identity;
  const twin = deviceTwin(clientId, hub.twins, hub.throttle);
  let answering = false;

  const answer = (id: string, { status, body, version }: TwinAnswer): void => {
    const suffix = version === undefined ? '' : `&$version=${version}`;
    if (answering) send(publication(`$iothub/twin/res/${status}/?$rid=${id}${suffix}`, body));
  };

  return {
    channels: [
      {
        topic: '$iothub/twin/res/#',
        open() {
          answering = true;
          return () => {
            answering = false;
          };
        },
      },
      {
        topic: '$iothub/twin/PATCH/properties/desired/#',
        open: () =>
          hub.twins.watch(clientId, (patch) =>
            send(publication(`$iothub/twin/PATCH/properties/desired/?$version=${patch['$version']}`, writeJson(patch))),
          ),
      },
    ],
    take({ topic, payload, acknowledge }) {
      const { what, id } = request.exec(topic)?.groups ?? {};
      if (what === undefined || id === undefined) return false;
      answer(id, what === 'GET/' ? twin.get() : twin.report(payload.toString('utf8')));
      acknowledge();
      return true;
    },
  };
}
