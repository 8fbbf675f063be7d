import type { IConnectPacket } from 'mqtt-packet';
import { Refusal } from '../values/refusal.ts';

// user name: {host}/{device}[/{module}]/?api-version=…&…   client id: {device}[/{module}]
const userName = /^[^/]+\/(?<client>[^/]+(\/[^/?]+)?)\/\??(?<query>[^/]*)$/;

/** Whom a CONNECT packet speaks for. Refuses a user name that is not as IoT Hub wants it or differs from the client id. */
export function readIdentity(packet: IConnectPacket): { deviceId: string; moduleId: string | undefined } {
  const { client, query } = userName.exec(packet.username ?? '')?.groups ?? {};
  if (client === undefined || !/(^|&)api-version=/.test(query ?? ''))
    throw new Refusal('amqp:unauthorized-access', 'The user name is not {host}/{client id}/?api-version={version}.');
  if (client !== packet.clientId)
    throw new Refusal('amqp:unauthorized-access', 'The user name and the client id name different devices.');
  const [deviceId = '', moduleId] = client.split('/');
  return { deviceId, moduleId };
}
