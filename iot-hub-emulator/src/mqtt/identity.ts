import type { IConnectPacket } from 'mqtt-packet';
import { Refusal } from '../values/refusal.ts';
import { eventsTopic } from './topics.ts';

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
} {
  const { client, query } = userName.exec(packet.username ?? '')?.groups ?? {};
  if (client === undefined || !/(^|&)api-version=/.test(query ?? ''))
    throw new Refusal('amqp:unauthorized-access', 'The user name is not {host}/{client id}/?api-version={version}.');
  if (client !== packet.clientId && client.startsWith('registrations/'))
    throw new Refusal('amqp:unauthorized-access', 'This hub does not provision devices.');
  if (client !== packet.clientId)
    throw new Refusal('amqp:unauthorized-access', 'The user name and the client id name different devices.');
  const [deviceId = '', moduleId] = client.split('/');
  const { will } = packet;
  if (will && (will.qos === 2 || !`${will.topic}/`.startsWith(eventsTopic(deviceId, moduleId))))
    throw new Refusal('amqp:unauthorized-access', 'The will is no message that this device could send.');
  return { deviceId, moduleId, modelId: new URLSearchParams(query).get('model-id') ?? undefined };
}
