import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { type Configuration, defined } from '../configuration/read.ts';
import { errorMessage } from '../connections/network.ts';
import {
  type Backoff,
  type Connection,
  createReconnecting,
  type Reconnecting,
  unlessAborted,
  within,
} from '../connections/reconnecting.ts';
import type { Log } from '../observing/log.ts';
import type { Meter } from '../observing/metrics.ts';
import type { Reply } from './messages.ts';
import type { ReplyTopics } from './routing.ts';

export interface BrokerConnection extends Connection {
  /** Whether the proxy receives replies on this topic. */
  isSubscribedTo(topic: string): boolean;
  /** Publishes at once or not at all (M11); returns false when nothing was sent. */
  publish(topic: string, payload: Buffer): boolean;
}

/** The connection to the broker, opened again when it is closed. */
export interface Broker extends Reconnecting<BrokerConnection> {
  /** Subscribes as the topics of replies are now. Resolves when that is done, or when the connection is closed; never rejects. */
  resubscribe(): Promise<void>;
}

interface BrokerOptions {
  /** As it is when a connection is opened. */
  readonly access: () => Configuration['broker'];
  readonly topics: ReplyTopics;
  readonly onReply: (reply: Reply) => void;
  readonly log: Log;
  readonly meter: Meter;
}

const backoff: Backoff = { initialMs: 500, maxMs: 5_000, stableAfterMs: 60_000 };
const connectMs = 10_000;
/** Until it is subscribed: the client waits for that without a limit. */
const openMs = 20_000;
const keepAliveSeconds = 15;
/** A broker that does not read must not fill the memory. */
const maxSendBufferBytes = 33_554_432;
/** A reply over 131,072 bytes is refused (D63); an even larger packet is not read. */
const maxPacketBytes = 4_194_304;

/** A connection that is subscribed to the replies of all modules. */
export function connectToBroker({ access, topics, onReply, log, meter }: BrokerOptions): Broker {
  /** Of the latest connection. */
  let update = async () => {};
  const connection = createReconnecting({
    name: 'the broker',
    ...{ open, log, backoff, meter },
    unstableMessage:
      'the broker closes each connection soon after it opens: does another program use the same client id?',
  });
  return { ...connection, resubscribe: () => update() };

  async function open(signal: AbortSignal): Promise<BrokerConnection> {
    const broker = access();
    const client = mqtt.connect(broker.url, clientOptions(broker));
    const subscriptions = createSubscriptions(client, topics, log);
    let fail = (_reason: string) => {};
    const closed = new Promise<string>((resolve) => {
      fail = resolve;
    });
    client.on('error', (error) => fail(errorMessage(error)));
    client.on('close', () => fail('the connection was closed'));
    client.on('message', (topic, payload, { retain }) => {
      // {out}/{status}/{requestId}
      const [, out = '', status = '', requestId = ''] = /^(.+)\/([^/]*)\/([^/]*)$/s.exec(topic) ?? [];
      if (topics.moduleOf(out) !== undefined) onReply({ topic: out, status, requestId, payload, isRetained: retain });
    });
    const onTooLarge = (bytes: number) => fail(`a module sent a packet of ${bytes} bytes`);
    client.stream.on('data', watchPacketSizes(maxPacketBytes, onTooLarge));
    const close = async () => {
      subscriptions.clear();
      await client.endAsync(true).catch(() => {});
    };
    try {
      const connected = new Promise((resolve) => client.once('connect', resolve));
      const subscribing = connected.then(() => {
        update = () => Promise.race([subscriptions.update(), closed]).then(noValue, noValue);
        return subscriptions.update();
      });
      const failed = closed.then((reason) => Promise.reject(new Error(reason)));
      await within(unlessAborted(Promise.race([subscribing, failed]), signal), openMs);
    } catch (error) {
      await close();
      throw error;
    }
    return {
      closed,
      close,
      isSubscribedTo: (topic) => client.connected && subscriptions.has(topic),
      publish(topic, payload) {
        const hasSpace = client.stream.writableLength + payload.length <= maxSendBufferBytes;
        if (!client.connected || !hasSpace) return false;
        client.publish(topic, payload, { qos: 0, retain: false }, (error) => {
          if (error) fail(errorMessage(error));
        });
        return true;
      },
    };
  }
}

const noValue = () => {};

/** Without anything that is kept for later, here or at the broker. */
export const clientOptions = (broker: Configuration['broker']): IClientOptions => {
  const { username, password, ca, certificate: cert, key, clientId } = broker;
  return {
    protocolVersion: 4,
    clean: true, // the broker stores nothing while the proxy is offline
    queueQoSZero: false, // the client stores nothing while the broker is offline
    resubscribe: false,
    reconnectPeriod: 0,
    connectTimeout: connectMs,
    keepalive: keepAliveSeconds,
    ...defined({ username, password, ca, cert, key, clientId }),
  };
};

/** The subscriptions of one connection to the replies of modules. */
export function createSubscriptions(client: MqttClient, topics: ReplyTopics, log: Log) {
  const subscribed = new Set<string>();
  /** They are tried again at each update, and logged once. */
  const refused = new Set<string>();
  let last: Promise<void> = Promise.resolve();

  async function subscribe(topic: string): Promise<void> {
    const filter = `${topic}/+/+`;
    const [granted] = await client.subscribeAsync(filter, { qos: 0 }).catch((error: Error) => {
      if (client.connected) return [{ qos: 128 }]; // this subscription failed, not the connection
      throw error;
    });
    if (granted && granted.qos < 128) {
      subscribed.add(topic);
      refused.delete(topic);
    } else if (!refused.has(topic)) {
      refused.add(topic);
      const module = topics.moduleOf(topic);
      log.error({ module, topic: filter }, 'the broker refuses the subscription to replies: see its access rules');
    }
  }

  async function updateNow(): Promise<void> {
    const wanted = new Set(topics.all());
    for (const topic of subscribed) {
      if (wanted.has(topic)) continue;
      subscribed.delete(topic);
      await client.unsubscribeAsync(`${topic}/+/+`);
    }
    for (const topic of wanted) if (!subscribed.has(topic)) await subscribe(topic);
  }

  return {
    has: (topic: string) => subscribed.has(topic),
    /** Subscribes to the topics that are missing, and unsubscribes from those that are not wanted any more. */
    update() {
      last = last.then(updateNow, updateNow);
      return last;
    },
    clear: () => subscribed.clear(),
  };
}

/**
 * Watches the sizes of MQTT packets in a stream of bytes. The client buffers a packet of any size before it delivers it;
 * a single module must not be able to fill the memory.
 * @param onTooLarge called once, as soon as the header of a larger packet has arrived
 */
export function watchPacketSizes(maxBytes: number, onTooLarge: (bytes: number) => void): (chunk: Buffer) => void {
  // Packet: one byte for the type; the length of the rest, 7 bits per byte, lowest first; the rest
  let state: 'type' | 'length' | 'rest' | 'over' = 'type';
  let [length, factor] = [0, 1];

  return (chunk) => {
    for (let at = 0; at < chunk.length && state !== 'over'; ) {
      if (state === 'rest') {
        const skipped = Math.min(length, chunk.length - at);
        length -= skipped;
        at += skipped;
      } else {
        const byte = chunk[at] ?? 0;
        at += 1;
        if (state === 'type') {
          [state, length, factor] = ['length', 0, 1];
          continue;
        }
        length += (byte & 0x7f) * factor;
        factor *= 128;
        if (byte >= 0x80) continue;
        state = 'rest';
        if (length > maxBytes) {
          state = 'over';
          onTooLarge(length);
          return;
        }
      }
      if (state === 'rest' && length === 0) state = 'type';
    }
  };
}
