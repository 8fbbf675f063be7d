import type { IConnectPacket } from 'mqtt-packet';
import { isApiVersion } from '../values/apiVersion.ts';
import { Refusal } from '../values/refusal.ts';
import { eventsTopic, isEventsTopic } from './topics.ts';

// user name: {host}/{device}[/{module}]/?api-version=…&…   client id: {device}[/{module}]
const userName = /^[^/]+\/(?<client>[^/]+(\/[^/?]+)?)\/\??(?<query>[^/]*)$/;

/**
 * Whom a CONNECT packet speaks for. Refuses a user name that is not as IoT Hub wants it or differs from the client id, and
 * a will that is no message of this device.
 */
export function readIdentity(packet: IConnectPacket): {
  deviceId: string;
  moduleId: string | undefined;
  /** The model that it names in `model-id`. */
  modelId: string | undefined;
  /** What it says of itself in `DeviceClientType`. */
  client: string | undefined;
} {
  const { client: named, query } = userName.exec(packet.username ?? '')?.groups ?? {};
  const said = new URLSearchParams(query);
  if (named === undefined || !isApiVersion(said.get('api-version')))
    throw new Refusal('amqp:unauthorized-access', 'The user name is not {host}/{client id}/?api-version={version}.');
  if (named !== packet.clientId && named.startsWith('registrations/'))
    throw new Refusal('amqp:unauthorized-access', 'This hub does not provision devices.');
  if (named !== packet.clientId)
    throw new Refusal('amqp:unauthorized-access', 'The user name and the client id name different devices.');
  const [deviceId = '', moduleId] = named.split('/');
  const { will } = packet;
  if (will && (will.qos === 2 || !isEventsTopic(will.topic, eventsTopic(deviceId, moduleId))))
    throw new Refusal('amqp:unauthorized-access', 'The will is no message that this device could send.');
  const [modelId, client] = ['model-id', 'DeviceClientType'].map((name) => said.get(name) ?? undefined);
  return { deviceId, moduleId, modelId, client };
}
