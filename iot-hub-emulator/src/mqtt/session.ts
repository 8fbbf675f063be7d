import type { IConnectPacket, IPublishPacket, ISubscribePacket, IUnsubscribePacket, Packet } from 'mqtt-packet';
import type { DeviceLogin } from '../identity/access.ts';
import type { Connection } from '../network/connections.ts';
import { methodsFeature } from './methodsFeature.ts';
import type { MqttHub } from './mqttHub.ts';
import { queueFeature } from './queueSubscription.ts';
import { telemetryFeature } from './telemetryFeature.ts';
import { wildcard } from './topics.ts';
import { twinFeature } from './twinFeature.ts';

/** A device broke the rules of the protocol: its connection ends. */
export class ProtocolViolation extends Error {
  override readonly name = 'Misconduct';
}

/** The session of a device that has logged in. */
export interface Session {
  /** Whether a subscription of an earlier connection still holds. */
  readonly present: boolean;
  /** Begin to deliver to subscriptions that still hold. */
  start(): void;
  /** Handle any packet but connect, pingreq and disconnect. Throws `Misconduct`. */
  handle(packet: Packet): void;
  /** The connection is over; `broken`: without a DISCONNECT packet. */
  stop(broken: boolean): void;
}

const failure = 0x80;
/** Everything that a device can do over MQTT. */
const features = [telemetryFeature, queueFeature, methodsFeature, twinFeature];

/** The session of a device that has just logged in; `send` writes a packet to it. */
export function createSession(options: {
  login: DeviceLogin;
  clean: boolean;
  will: IConnectPacket['will'];
  hub: MqttHub;
  connection: Connection;
  send: (packet: Packet) => void;
}): Session {
  const { login, clean, hub, send } = options;
  const { clientId } = login.identity;
  if (clean) hub.sessions.delete(clientId);
  const session = hub.sessions.get(clientId) ?? { subscriptions: new Map(), packetIds: new WeakMap() };
  const { subscriptions: subscribed } = session;
  const served = features.map((feature) => feature({ ...options, session }));
  const channels = new Map(served.flatMap(({ channels = [] }) => channels.map((channel) => [channel.topic, channel])));
  const open = new Map<string, () => void>();

  const listen = (topic: string): void => {
    const channel = channels.get(topic);
    if (channel && !open.has(topic))
      open.set(
        topic,
        channel.open(() => subscribed.get(topic) ?? 0),
      );
  };

  const stop = (topic: string): void => {
    open.get(topic)?.();
    open.delete(topic);
  };

  const publish = ({ topic, qos, retain, payload: given, messageId }: IPublishPacket): void => {
    if (qos === 2) throw new ProtocolViolation('quality of service 2 is not served');
    if (wildcard.test(topic)) throw new ProtocolViolation('it published to a topic with a wildcard');
    const payload = typeof given === 'string' ? Buffer.from(given) : given;
    const acknowledge = () => {
      if (qos === 1 && messageId !== undefined) send({ cmd: 'puback', messageId });
    };
    if (!served.some(({ take }) => take?.({ topic, payload, retain, acknowledge })))
      throw new ProtocolViolation('it published to a topic that is not its own');
  };

  const subscribe = ({ subscriptions, messageId }: ISubscribePacket): void => {
    const wanted = subscriptions.map(({ topic, qos }) => ({ topic, qos: qos === 0 ? (0 as const) : (1 as const) }));
    const granted = wanted.map(({ topic, qos }) => (channels.has(topic) ? qos : failure));
    send({ cmd: 'suback', granted, ...(messageId === undefined ? {} : { messageId }) });
    for (const { topic, qos } of wanted.filter(({ topic }) => channels.has(topic))) {
      subscribed.set(topic, qos);
      if (!clean) hub.sessions.set(clientId, session);
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
      else throw new ProtocolViolation(`it sent a ${packet.cmd} packet`);
    },
    stop(broken) {
      for (const topic of [...open.keys()]) stop(topic);
      if (broken) for (const feature of served) feature.broken?.();
    },
  };
}
