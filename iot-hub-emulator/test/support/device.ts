import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { type IConnectPacket, type IPublishPacket, type Packet, parser, writeToStream } from 'mqtt-packet';
import type { Hub } from '../../src/hub.ts';
import { signSas } from '../../src/identity/sas.ts';
import { createChanges } from './changes.ts';

/** A device that speaks MQTT packet by packet, and can misbehave. */
export type RawDevice = Awaited<ReturnType<typeof rawDevice>>;

export async function rawDevice(hub: Hub) {
  const ca = readFileSync(hub.caFile);
  const socket = connect({ port: hub.ports.mqtts, host: '127.0.0.1', ca, servername: 'localhost' });
  await once(socket, 'secureConnect');
  const received: Packet[] = [];
  const { changed, until } = createChanges();
  const packets = parser({ protocolVersion: 4 });
  packets.on('packet', (packet) => {
    received.push(packet);
    changed();
  });
  packets.on('error', () => undefined); // a client of another protocol is answered in that one
  socket.on('data', (chunk) => packets.parse(chunk));
  socket.on('error', () => undefined);
  return {
    socket,
    send: (packet: Packet) => void writeToStream(packet, socket),
    /** The next packet of a kind that has not been taken yet. */
    next: <T extends Packet['cmd']>(cmd: T) =>
      until(() => {
        const at = received.findIndex((packet) => packet.cmd === cmd);
        return at < 0 ? undefined : (received.splice(at, 1)[0] as Extract<Packet, { cmd: T }>);
      }),
    closed: new Promise((resolve) => socket.on('close', resolve)),
  };
}

/** The CONNECT packet of a device that sends no pings: it may be silent for as long as the hub allows at most. */
export function connectPacket(hub: Hub, deviceId: string, changes: Partial<IConnectPacket> = {}): IConnectPacket {
  const key = hub.registry.get(deviceId)?.primaryKey ?? 'bm8ga2V5IGF0IGFsbCE=';
  const token = signSas(`localhost/devices/${deviceId}`, key, 'base64', Math.floor(Date.now() / 1000) + 3600);
  return {
    ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, clientId: deviceId, keepalive: 1177 },
    username: `localhost/${deviceId}/?api-version=2021-04-12`,
    password: Buffer.from(token),
    ...changes,
  };
}

export async function connectedDevice(
  hub: Hub,
  deviceId: string,
  changes: Partial<IConnectPacket> = {},
): Promise<RawDevice> {
  const device = await rawDevice(hub);
  device.send(connectPacket(hub, deviceId, changes));
  const { returnCode } = await device.next('connack');
  if (returnCode !== 0) throw new Error(`The hub answered ${returnCode}.`);
  return device;
}

/** A PUBLISH packet; quality of service 1 unless changed. */
export const publishPacket = (
  topic: string,
  payload: string | Buffer,
  changes: Partial<IPublishPacket> = {},
): IPublishPacket => ({ cmd: 'publish', topic, payload, qos: 1, dup: false, retain: false, messageId: 1, ...changes });

/** Subscribe to the device's own messages and wait until it holds. */
export async function subscribe(device: RawDevice, deviceId: string, qos: 0 | 1 | 2 = 1): Promise<unknown[]> {
  const topic = `devices/${deviceId}/messages/devicebound/#`;
  device.send({ cmd: 'subscribe', messageId: 7, subscriptions: [{ topic, qos }] });
  return (await device.next('suback')).granted;
}
