import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import type { Configuration } from '../configuration/read.ts';
import type { Log } from '../log.ts';
import type { Reply } from '../reply.ts';
import { inWords } from './inWords.ts';
import { createLives, type Life, type Lives, type Pauses } from './lives.ts';
import { watchPacketSizes } from './packetSizes.ts';

/** A message below a module's topic for replies. */
export interface Incoming extends Reply {
  readonly moduleId: string;
  readonly requestId: string;
  readonly isRetained: boolean;
}

/** A connection to the broker. */
export interface BrokerLife extends Life {
  /** Whether replies of this module would be heard. */
  hears(moduleId: string): boolean;
  /** Sends it once, now, or not at all (M11). False: it has not gone out. */
  publish(topic: string, payload: Buffer): boolean;
}

interface BrokerOptions {
  readonly broker: Configuration['broker'];
  readonly modules: Configuration['modules'];
  readonly incoming: (message: Incoming) => void;
  readonly log: Log;
  readonly pauses?: Pauses;
}

const usualPauses: Pauses = { firstMs: 500, longestMs: 5_000, longLifeMs: 60_000 };
const connectMs = 10_000;
const keepAliveSeconds = 15;
/** What waits to be sent; a broker that takes nothing must not fill the memory. */
const mostBufferedBytes = 33_554_432;
/** What a module may send at once; a reply of more than 131,072 bytes is a bad one anyway. */
const mostPacketBytes = 4_194_304;

/** A connection to the broker that is subscribed to the replies of all modules, made anew when it ends (M13). */
export function connectToBroker({
  broker,
  modules,
  incoming,
  log,
  pauses = usualPauses,
}: BrokerOptions): Lives<BrokerLife> {
  const byTopic = new Map(modules.map(({ id, topics_methods_out }) => [topics_methods_out, id]));
  return createLives({
    name: 'the broker',
    open,
    log,
    pauses,
    whenShort: 'the broker ends each connection soon after it was made: does another program use the same client id?',
  });

  async function open(signal: AbortSignal): Promise<BrokerLife> {
    const client = mqtt.connect(broker.url, optionsFor(broker));
    const heard = new Set<string>();
    let end = (_reason: string) => {};
    const ended = new Promise<string>((resolve) => {
      end = resolve;
    });
    client.on('error', (error) => end(inWords(error)));
    client.on('close', () => end('the connection has ended'));
    client.on('message', (topic, payload, { retain }) => {
      // {out}/{status}/{requestId}
      const [, out = '', status = '', requestId = ''] = /^(.+)\/([^/]*)\/([^/]*)$/s.exec(topic) ?? [];
      const moduleId = byTopic.get(out);
      if (moduleId !== undefined) incoming({ moduleId, status, requestId, payload, isRetained: retain });
    });
    const tooLarge = (bytes: number) => end(`a module has sent ${bytes} bytes at once`);
    client.stream.on('data', watchPacketSizes(mostPacketBytes, tooLarge));
    const close = async () => {
      heard.clear();
      await client.endAsync(true).catch(() => {});
    };
    const stop = () => end('stopped');
    signal.addEventListener('abort', stop, { once: true });
    try {
      const connected = new Promise((resolve) => client.once('connect', resolve));
      const subscribing = connected.then(() => subscribe(client, heard));
      await Promise.race([subscribing, ended.then((reason) => Promise.reject(new Error(reason)))]);
    } catch (error) {
      await close();
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
    return {
      ended,
      close,
      hears: (moduleId) => client.connected && heard.has(moduleId),
      publish(topic, payload) {
        const isFree = client.stream.writableLength + payload.length <= mostBufferedBytes;
        if (!client.connected || !isFree) return false;
        client.publish(topic, payload, { qos: 0, retain: false }, (error) => {
          if (error) end(inWords(error));
        });
        return true;
      },
    };
  }

  async function subscribe(client: MqttClient, heard: Set<string>): Promise<void> {
    for (const { id, topics_methods_out } of modules) {
      const topic = `${topics_methods_out}/+/+`;
      const [granted] = await client.subscribeAsync(topic, { qos: 0 }).catch((error: Error) => {
        if (client.connected) return [{ qos: 128 }]; // it was this subscription that failed
        throw error;
      });
      if (granted && granted.qos < 128) heard.add(id);
      else log.error({ module: id, topic }, 'the broker refuses the subscription to replies: see its access rules');
    }
  }
}

const optionsFor = ({
  username,
  password,
  ca,
  certificate,
  key,
  clientId,
}: Configuration['broker']): IClientOptions => ({
  protocolVersion: 4,
  clean: true, // nothing is kept for us while we are away
  queueQoSZero: false, // nothing is kept by us while the broker is
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
});
