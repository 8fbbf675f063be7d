import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import type { Configuration } from '../configuration/read.ts';
import { errorMessage } from '../connections/errorMessage.ts';
import { type Backoff, type Connection, createReconnecting, type Reconnecting } from '../connections/reconnecting.ts';
import type { Meter } from '../metrics/meter.ts';
import type { Log } from '../operations/log.ts';
import { watchPacketSizes } from './packetSizes.ts';
import type { Reply } from './reply.ts';

export interface BrokerConnection extends Connection {
  /** Whether the proxy receives replies of this module. */
  isSubscribedTo(moduleId: string): boolean;
  /** Publishes at once or not at all (M11); returns false when nothing was sent. */
  publish(topic: string, payload: Buffer): boolean;
}

interface BrokerOptions {
  readonly broker: Configuration['broker'];
  readonly modules: Configuration['modules'];
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
export function connectToBroker({
  broker,
  modules,
  onReply,
  log,
  meter,
}: BrokerOptions): Reconnecting<BrokerConnection> {
  const moduleByTopic = new Map(modules.map(({ id, topics_methods_out }) => [topics_methods_out, id]));
  return createReconnecting({
    name: 'the broker',
    open,
    log,
    meter,
    backoff,
    unstableMessage:
      'the broker closes each connection soon after it opens: does another program use the same client id?',
  });

  async function open(signal: AbortSignal): Promise<BrokerConnection> {
    const client = mqtt.connect(broker.url, clientOptions(broker));
    const subscribed = new Set<string>();
    let fail = (_reason: string) => {};
    const closed = new Promise<string>((resolve) => {
      fail = resolve;
    });
    client.on('error', (error) => fail(errorMessage(error)));
    client.on('close', () => fail('the connection was closed'));
    client.on('message', (topic, payload, { retain }) => {
      // {out}/{status}/{requestId}
      const [, out = '', status = '', requestId = ''] = /^(.+)\/([^/]*)\/([^/]*)$/s.exec(topic) ?? [];
      const moduleId = moduleByTopic.get(out);
      if (moduleId !== undefined) onReply({ moduleId, status, requestId, payload, isRetained: retain });
    });
    const onTooLarge = (bytes: number) => fail(`a module sent a packet of ${bytes} bytes`);
    client.stream.on('data', watchPacketSizes(maxPacketBytes, onTooLarge));
    const close = async () => {
      subscribed.clear();
      await client.endAsync(true).catch(() => {});
    };
    const abort = () => fail('stopped');
    signal.addEventListener('abort', abort, { once: true });
    try {
      const connected = new Promise((resolve) => client.once('connect', resolve));
      const subscribing = connected.then(() => subscribe(client, subscribed));
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
      isSubscribedTo: (moduleId) => client.connected && subscribed.has(moduleId),
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

  async function subscribe(client: MqttClient, subscribed: Set<string>): Promise<void> {
    for (const { id, topics_methods_out } of modules) {
      const topic = `${topics_methods_out}/+/+`;
      const [granted] = await client.subscribeAsync(topic, { qos: 0 }).catch((error: Error) => {
        if (client.connected) return [{ qos: 128 }]; // this subscription failed, not the connection
        throw error;
      });
      if (granted && granted.qos < 128) subscribed.add(id);
      else log.error({ module: id, topic }, 'the broker refuses the subscription to replies: see its access rules');
    }
  }
}

const clientOptions = (broker: Configuration['broker']): IClientOptions => {
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
