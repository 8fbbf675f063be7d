import sdk from 'azure-iot-device';
import mqtt from 'azure-iot-device-mqtt';

/** What the transport tells of a direct method. */
interface MethodMessage {
  readonly requestId: string;
  readonly methods: { readonly methodName: string };
}

type OnUnknown = (methodName: string) => void;

const prefix = 'method_';

/** Over WebSockets the client has the port fixed, so that an address with another one breaks. */
class MqttOverWebSockets extends mqtt.MqttWs {
  protected override _getBaseTransportConfig(credentials: Place) {
    const { gatewayHostName, host } = credentials;
    const config = super._getBaseTransportConfig(credentials as never);
    return Object.assign(config, { uri: `wss://${gatewayHostName || host}/$iothub/websocket` });
  }
}

/** Each `name`, `name:port` or `[address]:port`. */
interface Place {
  readonly gatewayHostName?: string;
  readonly host: string;
}

/**
 * MQTT to the hub, with a 404 for direct methods without a listener (M6). The client leaves them without an answer, so
 * that their callers would wait for the whole time-out.
 * @param onUnknown called with each of them
 */
export function methodTransport(onUnknown: OnUnknown, isOverWebSockets: boolean) {
  const Transport: typeof mqtt.Mqtt = isOverWebSockets ? MqttOverWebSockets : mqtt.Mqtt;
  return class extends Transport {
    override emit(event: string | symbol, ...given: unknown[]): boolean {
      const isHeard = super.emit(event, ...given);
      if (!isHeard && String(event).startsWith(prefix)) {
        const { requestId, methods } = given[0] as MethodMessage;
        onUnknown(methods.methodName);
        const detail = 'the edge proxy has no other direct method than invokeMethod';
        new sdk.DeviceMethodResponse(requestId, this).send(404, { detail, invoked: 'no' }).catch(() => {});
      }
      return isHeard;
    }
  };
}
