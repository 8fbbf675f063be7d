import type { IConnectPacket, Packet } from 'mqtt-packet';
import type { DeviceLogin } from '../identity/access.ts';
import type { Connection } from '../network/connections.ts';
import type { MqttHub, SessionState } from './mqttHub.ts';

/** Something that a device can subscribe to. */
export interface Channel {
  /** The only topic filter under which it can be had. */
  readonly topic: string;
  /** The device subscribes; the answer ends that. `qos` is what it was granted last (D82). */
  open(qos: () => 0 | 1): () => void;
}

/** A message that the device published; `acknowledge` sends the PUBACK, if it wants one. */
export interface Publication {
  topic: string;
  payload: Buffer;
  retain: boolean;
  acknowledge(): void;
}

/** One thing that a hub does for a device: what it sends it, and what it takes. */
export interface Feature {
  readonly channels?: readonly Channel[];
  /** Take what the device published. False: the topic is none of this feature's. */
  take?(publication: Publication): boolean;
  /** The device acknowledged a packet. */
  acknowledge?(packetId: number): void;
  /** The connection has ended without a DISCONNECT packet. */
  broken?(): void;
}

/** What a feature knows of the device and the hub; `send` writes a packet to the device. */
export interface FeatureContext {
  hub: MqttHub;
  login: DeviceLogin;
  connection: Connection;
  will: IConnectPacket['will'];
  session: SessionState;
  send(packet: Packet): void;
}

/** A message of quality 0 to the device. */
export function publication(topic: string, payload: string): Packet {
  return { cmd: 'publish', topic, payload, qos: 0, dup: false, retain: false };
}
