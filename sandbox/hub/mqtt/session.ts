import type { IPublishPacket, ISubscribePacket, IUnsubscribePacket, Packet } from 'mqtt-packet';
import type { DeviceLogin } from '../access.ts';
import type { Connection } from '../connections.ts';
import type { Delivery } from '../devicebound.ts';
import { answer } from '../faults/answering.ts';
import type { MqttHub } from './server.ts';
import { deviceboundTopic, eventsTopic, formatBag, parseBag } from './topics.ts';

/** A device did what ends its connection. */
export class Misconduct extends Error {
  override readonly name = 'Misconduct';
}

/** A logged-in device: what it publishes, and what it gets. */
export interface Session {
  /** Whether a subscription of an earlier connection still holds. */
  readonly present: boolean;
  /** Begin to deliver to a subscription that still holds. */
  start(): void;
  /** Handle any packet but connect, pingreq and disconnect. Throws `Misconduct`. */
  handle(packet: Packet): void;
  stop(): void;
}

const failure = 0x80;
const maxTopicBytes = 65_535;
// of methods and twins: accepted, so that clients can use them, but nothing comes of it yet
const replies = /^\$iothub\/(methods\/res|twin)\//;
const reserved = /^\$iothub\/(methods\/POST\/|twin\/res\/|twin\/PATCH\/properties\/desired\/)#$/;

/** The session of a device that has just logged in; `send` writes a packet to it. */
export function createSession(options: {
  login: DeviceLogin;
  clean: boolean;
  hub: MqttHub;
  connection: Connection;
  send: (packet: Packet) => void;
}): Session {
  const { login, clean, hub, connection, send } = options;
  const { clientId, deviceId, moduleId } = login.identity;
  const publishTopic = eventsTopic(deviceId, moduleId);
  const deliverTopic = deviceboundTopic(deviceId);
  const unacknowledged = new Map<number, Delivery>();
  let packetId = 0;
  let quality: 0 | 1 = 1;
  let stopListening: (() => void) | undefined;
  if (clean) hub.subscriptions.delete(clientId);

  const nextPacketId = (): number => {
    do packetId = (packetId % 65_535) + 1;
    while (unacknowledged.has(packetId));
    return packetId;
  };

  const deliver = (delivery: Delivery): void => {
    const topic = deliverTopic + formatBag(delivery.message);
    const { body: payload } = delivery.message;
    if (Buffer.byteLength(topic) > maxTopicBytes) return; // cannot be said in MQTT; it stays queued until it expires
    if (quality === 0) {
      send({ cmd: 'publish', topic, payload, qos: 0, dup: false, retain: false });
      delivery.complete();
      return;
    }
    const messageId = nextPacketId();
    unacknowledged.set(messageId, delivery);
    send({ cmd: 'publish', topic, payload, qos: 1, dup: delivery.deliveryCount > 1, retain: false, messageId });
  };

  const listen = (qos: 0 | 1): void => {
    quality = qos;
    stopListening ??= hub.devicebound.listen(deviceId, deliver);
  };

  const stop = (): void => {
    stopListening?.();
    stopListening = undefined;
  };

  const accept = (topic: string, payload: string | Buffer, retain: boolean): void => {
    if (!`${topic}/`.startsWith(publishTopic)) throw new Misconduct('it published to a topic that is not its own');
    const { system, properties } = parseBag(topic.slice(publishTopic.length));
    if (retain) properties['mqtt-retain'] = 'true';
    const body = typeof payload === 'string' ? Buffer.from(payload) : payload;
    hub.events.accept(login, { system, properties, body });
  };

  const publish = ({ topic, qos, retain, payload, messageId }: IPublishPacket): void => {
    if (qos === 2) throw new Misconduct('quality of service 2 is not served');
    const acknowledge = () => {
      if (qos === 1 && messageId !== undefined) send({ cmd: 'puback', messageId });
    };
    if (replies.test(topic)) acknowledge();
    else
      answer(hub.faults, { kind: 'd2c', deviceId, connection }, () => accept(topic, payload, retain), {
        accept: acknowledge,
        reject: (condition, description) => connection.close({ condition, description }),
      });
  };

  const subscribe = ({ subscriptions, messageId }: ISubscribePacket): void => {
    let own: 0 | 1 | undefined;
    const granted = subscriptions.map(({ topic, qos }) => {
      const most = qos === 0 ? 0 : 1;
      if (topic === `${deliverTopic}#` && moduleId === undefined) own = most;
      else if (!reserved.test(topic)) return failure;
      return most;
    });
    send({ cmd: 'suback', granted, ...(messageId === undefined ? {} : { messageId }) });
    if (own === undefined) return;
    if (!clean) hub.subscriptions.set(clientId, own);
    listen(own);
  };

  const unsubscribe = ({ unsubscriptions, messageId }: IUnsubscribePacket): void => {
    if (unsubscriptions.includes(`${deliverTopic}#`)) {
      stop();
      hub.subscriptions.delete(clientId);
    }
    send({ cmd: 'unsuback', granted: [], ...(messageId === undefined ? {} : { messageId }) });
  };

  return {
    present: hub.subscriptions.has(clientId),
    start() {
      const qos = hub.subscriptions.get(clientId);
      if (qos !== undefined) listen(qos);
    },
    handle(packet) {
      if (packet.cmd === 'publish') publish(packet);
      else if (packet.cmd === 'subscribe') subscribe(packet);
      else if (packet.cmd === 'unsubscribe') unsubscribe(packet);
      else if (packet.cmd === 'puback') {
        unacknowledged.get(packet.messageId ?? 0)?.complete();
        unacknowledged.delete(packet.messageId ?? 0);
      } else throw new Misconduct(`it sent a ${packet.cmd} packet`);
    },
    stop,
  };
}
