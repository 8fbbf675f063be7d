import type { IPublishPacket, ISubscribePacket, IUnsubscribePacket, Packet } from 'mqtt-packet';
import type { DeviceLogin } from '../identity/access.ts';
import type { Connection } from '../network/connections.ts';
import { answer } from '../faults/answering.ts';
import type { FeatureContext } from './channel.ts';
import { deviceboundFeature } from './queueSubscription.ts';
import { methodsFeature } from './methods.ts';
import type { MqttHub } from './mqttHub.ts';
import { eventsTopic, parseBag } from './topics.ts';
import { twinFeature } from './twin.ts';

/** A device did what ends its connection. */
export class Misconduct extends Error {
  override readonly name = 'Misconduct';
}

/** A logged-in device: what it publishes, and what it gets. */
export interface Session {
  /** Whether a subscription of an earlier connection still holds. */
  readonly present: boolean;
  /** Begin to deliver to subscriptions that still hold. */
  start(): void;
  /** Handle any packet but connect, pingreq and disconnect. Throws `Misconduct`. */
  handle(packet: Packet): void;
  stop(): void;
}

const failure = 0x80;
const features = [deviceboundFeature, methodsFeature, twinFeature];

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
  const context: FeatureContext = { hub, identity: login.identity, send };
  const served = features.map((feature) => feature(context));
  const channels = new Map(served.flatMap((feature) => feature.channels.map((channel) => [channel.topic, channel])));
  const open = new Map<string, () => void>();
  if (clean) hub.subscriptions.delete(clientId);
  const subscribed = hub.subscriptions.get(clientId) ?? new Map<string, 0 | 1>();

  const listen = (topic: string): void => {
    const channel = channels.get(topic);
    if (channel && !open.has(topic)) open.set(topic, channel.open(() => subscribed.get(topic) ?? 0));
  };

  const stop = (topic: string): void => {
    open.get(topic)?.();
    open.delete(topic);
  };

  const accept = (topic: string, payload: Buffer, retain: boolean): void => {
    hub.throttle.take('d2c');
    const { system, properties } = parseBag(topic.slice(publishTopic.length));
    if (retain) properties['mqtt-retain'] = 'true';
    hub.events.accept(login, { system, properties, body: payload });
  };

  const publish = ({ topic, qos, retain, payload: given, messageId }: IPublishPacket): void => {
    if (qos === 2) throw new Misconduct('quality of service 2 is not served');
    const payload = typeof given === 'string' ? Buffer.from(given) : given;
    const acknowledge = () => {
      if (qos === 1 && messageId !== undefined) send({ cmd: 'puback', messageId });
    };
    if (`${topic}/`.startsWith(publishTopic))
      answer(hub.faults, { kind: 'd2c', deviceId, connection }, () => accept(topic, payload, retain), {
        accept: acknowledge,
        reject: (condition, description) => connection.close({ condition, description }),
      });
    else if (topic.startsWith('$iothub/') && served.some(({ take }) => take?.(topic, payload.toString('utf8'))))
      acknowledge();
    else throw new Misconduct('it published to a topic that is not its own');
  };

  const subscribe = ({ subscriptions, messageId }: ISubscribePacket): void => {
    const wanted = subscriptions.map(({ topic, qos }) => ({ topic, qos: qos === 0 ? (0 as const) : (1 as const) }));
    const granted = wanted.map(({ topic, qos }) => (channels.has(topic) ? qos : failure));
    send({ cmd: 'suback', granted, ...(messageId === undefined ? {} : { messageId }) });
    for (const { topic, qos } of wanted.filter(({ topic }) => channels.has(topic))) {
      subscribed.set(topic, qos);
      if (!clean) hub.subscriptions.set(clientId, subscribed);
      listen(topic);
    }
  };

  const unsubscribe = ({ unsubscriptions, messageId }: IUnsubscribePacket): void => {
    for (const topic of unsubscriptions) {
      stop(topic);
      subscribed.delete(topic);
    }
    send({ cmd: 'unsuback', granted: [], ...(messageId === undefined ? {} : { messageId }) });
  };

  return {
    present: subscribed.size > 0,
    start() {
      for (const topic of subscribed.keys()) listen(topic);
    },
    handle(packet) {
      if (packet.cmd === 'publish') publish(packet);
      else if (packet.cmd === 'subscribe') subscribe(packet);
      else if (packet.cmd === 'unsubscribe') unsubscribe(packet);
      else if (packet.cmd === 'puback') for (const { acknowledge } of served) acknowledge?.(packet.messageId ?? 0);
      else throw new Misconduct(`it sent a ${packet.cmd} packet`);
    },
    stop() {
      for (const topic of [...open.keys()]) stop(topic);
    },
  };
}
