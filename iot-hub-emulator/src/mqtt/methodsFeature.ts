import { type Feature, type FeatureContext, publication } from './channel.ts';

// to the device: $iothub/methods/POST/{name}/?$rid={request}; from it: $iothub/methods/res/{status}/?$rid={request}
const response = /^\$iothub\/methods\/res\/(?<status>-?\d{1,9})\/\?\$rid=(?<request>[^&]+)/;

/** Direct methods. */
export function methodsFeature({ hub, login, send }: FeatureContext): Feature {
  const { clientId } = login.identity;
  return {
    channels: [
      {
        topic: '$iothub/methods/POST/#',
        open: () =>
          hub.methods.listen(clientId, ({ requestId, methodName, payload }) =>
            send(publication(`$iothub/methods/POST/${methodName}/?$rid=${requestId}`, payload)),
          ),
      },
    ],
    take({ topic, payload, acknowledge }) {
      const { status, request } = response.exec(topic)?.groups ?? {};
      if (status === undefined || request === undefined) return false;
      hub.methods.answer(clientId, request, Number(status), payload);
      acknowledge();
      return true;
    },
  };
}
