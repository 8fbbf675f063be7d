import mqtt, { type IClientOptions } from 'mqtt';
import type { Configuration } from '../configuration/read.ts';
import { errorMessage } from '../connections/errorMessage.ts';
import { type Backoff, type Connection, createReconnecting, type Reconnecting } from '../connections/reconnecting.ts';
import type { Meter } from '../metrics/metrics.ts';
import type { Log } from '../operations/log.ts';
import { watchPacketSizes } from './packetSizes.ts';
import type { Reply } from './reply.ts';
import type { ReplyTopics } from './replyTopics.ts';
import { createSubscriptions } from './subscriptions.ts';

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
    open,
    log,
    meter,
    backoff,
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
    const abort = () => fail('stopped');
    signal.addEventListener('abort', abort, { once: true });
    try {
      const connected = new Promise((resolve) => client.once('connect', resolve));
      const subscribing = connected.then(() => {
        update = () => Promise.race([subscriptions.update(), closed]).then(noValue, noValue);
        return subscriptions.update();
      });
      await Promise.race([subscribing, closed.then((reason) => Promise.reject(new Error(reason)))]);
    } catch (error) {
      await close();
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
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
  const { username, password, ca, certificate, key, clientId } = broker;
  return {
    protocolVersion: 4,
    clean: true, // the broker stores nothing while the proxy is offline
    queueQoSZero: false, // the client stores nothing while the broker is offline
    resubscribe: false,
    reconnectPeriod: 0,
    connectTimeout: connectMs,
    keepalive: keepAliveSeconds,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { cert: certificate }),
    ...(key !== undefined && { key }),
    ...(clientId !== undefined && { clientId }),
  };
};
