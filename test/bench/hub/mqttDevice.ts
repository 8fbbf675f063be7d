import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createSecureContext, type SecureContext } from 'node:tls';
import { generate, type Packet, parser } from 'mqtt-packet';
import { signSas } from '../../../iot-hub-emulator/src/identity/sas.ts';
import type { HubUnderLoad } from './underLoad.ts';

/** A device that costs its process as little as it can. */
export interface MqttDevice {
  write(bytes: Buffer): void;
  onPacket: (packet: Packet) => void;
  next(cmd: Packet['cmd']): Promise<Packet>;
  end(): void;
}

const key = Buffer.alloc(32, 1).toString('base64');
const expiry = Math.floor(Date.now() / 1000) + 3600;
const contexts = new Map<string, SecureContext>();

/** Connect as a device of the hub and log in. */
export async function connectDevice(hub: HubUnderLoad, deviceId: string): Promise<MqttDevice> {
  const secureContext = contexts.get(hub.caFile) ?? createSecureContext({ ca: readFileSync(hub.caFile) });
  contexts.set(hub.caFile, secureContext);
  const socket = connect({ host: '127.0.0.1', port: hub.ports.mqtts, secureContext, servername: 'localhost' });
  socket.setNoDelay(true);
  await once(socket, 'secureConnect');
  const packets = parser({ protocolVersion: 4 });
  const waiting = new Map<string, (packet: Packet) => void>();
  const device: MqttDevice = {
    write: (bytes) => void socket.write(bytes),
    onPacket: () => undefined,
    next: (cmd) => new Promise((resolve) => waiting.set(cmd, resolve)),
    end: () => socket.destroy(),
  };
  packets.on('packet', (packet) => {
    device.onPacket(packet);
    waiting.get(packet.cmd)?.(packet);
    waiting.delete(packet.cmd);
  });
  socket.on('data', (chunk) => packets.parse(chunk));
  socket.on('error', (error) => {
    throw error;
  });
  const connack = device.next('connack');
  device.write(
    generate({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clean: true,
      clientId: deviceId,
      keepalive: 600,
      username: `localhost/${deviceId}/?api-version=2021-04-12`,
      password: Buffer.from(signSas(`localhost/devices/${deviceId}`, key, 'base64', expiry)),
    }),
  );
  await connack;
  return device;
}

/** The bytes of an event of so many bytes. */
export const publication = (deviceId: string, size: number, messageId: number): Buffer =>
  generate({
    cmd: 'publish',
    topic: `devices/${deviceId}/messages/events/colour=red&%24.ct=application%2Fjson`,
    payload: Buffer.alloc(size, 'x'),
    qos: 1,
    dup: false,
    retain: false,
    messageId,
  });
