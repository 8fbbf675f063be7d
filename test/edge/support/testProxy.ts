import type { Configuration } from '../../../edge/src/configuration/read.ts';
import type { Module } from '../../../edge/src/configuration/schema.ts';
import type { FileInputs } from '../../../edge/src/files/fileInputs.ts';
import { createConcurrencyLimit, createProxy } from '../../../edge/src/invocations/proxy.ts';
import type { BrokerConnection } from '../../../edge/src/modules/brokerConnection.ts';
import { createDroppedReplies } from '../../../edge/src/modules/messages.ts';
import { createReplyTopics, createRouter } from '../../../edge/src/modules/routing.ts';
import { createLog } from '../../../edge/src/observing/log.ts';
import { createMeter } from '../../../edge/src/observing/metrics.ts';

export const pressObject = '6b0e4d7c-5a33-4d8c-9a1e-2f1c0f6a7b10';
export const busObject = '0f1d8a52-7f2b-4f0e-8d57-3b8f2f6c9e11';

const topicsOf = (id: string) => ({ id, topics_methods_in: `${id}/in`, topics_methods_out: `${id}/out` });

export const modules: readonly Module[] = [
  { ...topicsOf('press'), objectIds: [pressObject] },
  { ...topicsOf('bus'), objectIds: [], gateway: { objectIds: [busObject], targets: [] } },
  { ...topicsOf('camera'), objectIds: [], identity: 'camera' },
];

export const configuration: Configuration = {
  hub: { connectionString: 'HostName=h.net;DeviceId=d;SharedAccessKey=a2V5', webSockets: false },
  ...{ network: {}, broker: { url: 'mqtt://h', username: 'u', password: 'secret' }, modules: [...modules] },
  files: { hosts: ['a.net'], atOnce: 4, loopbackHttp: false },
  limits: { inFlight: 200, inFlightPerModule: 100, drainSeconds: 25 },
  ...{ health: { host: '0.0.0.0', port: 8080 }, log: { level: 'info', pretty: false } },
};

type Downloading = Parameters<FileInputs['download']>;

/** The proxy between a hub and a broker that do what the test says. */
export function startTestProxy(limits = { inFlight: 10, inFlightPerModule: 5 }) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) });
  const meter = createMeter();
  const changes: string[][] = [];
  const topics = createReplyTopics(modules, () => void changes.push([...topics.all()]));
  const concurrency = createConcurrencyLimit(() => limits);
  const droppedReplies = createDroppedReplies(log, meter);
  const published: { topic: string; text: string }[] = [];
  const downloading: Downloading[] = [];
  const given = {
    ...{ unsubscribed: '', isConnected: true, isFull: false, limits },
    download: (async () => {
      throw new Error('no file is asked for');
    }) as FileInputs['download'],
    setup: () => ({ route: createRouter(modules), fileInputs }),
  };
  const fileInputs: FileInputs = {
    prepare: async () => [],
    download(...asked) {
      downloading.push(asked);
      return given.download(...asked);
    },
  };
  const connection: BrokerConnection = {
    closed: new Promise(() => {}),
    close: async () => {},
    isSubscribedTo: (topic) => topic !== given.unsubscribed,
    publish(topic, payload) {
      if (given.isFull) return false;
      published.push({ topic, text: payload.toString() });
      return true;
    },
  };
  const proxy = createProxy({
    setup: () => given.setup(),
    broker: () => (given.isConnected ? connection : undefined),
    ...{ topics, concurrency, droppedReplies, log, meter },
  });
  const usual = { correlationId: 'c-1', objectId: pressObject, model: 'm', target: '', method: 'stop', timeout: 20 };

  return {
    ...{ proxy, topics, concurrency, droppedReplies, meter, lines, published, downloading, given, changes },
    call: (change: object = {}) => proxy.invoke({ ...usual, ...change }),
    /** What a module sends in reply to the latest request. */
    reply(status: number | string, text = '', change: object = {}) {
      const [, module = '', requestId = ''] = /^(\w+)\/in\/.*\/([^/]+)$/.exec(published.at(-1)?.topic ?? '') ?? [];
      const reply = { topic: `${module}/out`, requestId, status: String(status), payload: Buffer.from(text) };
      proxy.receive({ ...reply, isRetained: false, ...change });
    },
    /** Values of the attributes and the count, by series. */
    counted: (name: string) => seriesOf(meter, name).map((one) => [...one.values, one.count || one.sum]),
  };
}

export function seriesOf(meter: ReturnType<typeof createMeter>, metric: string) {
  const found = meter.readings().find(({ name }) => name === metric);
  return [...(found?.read() ?? [])];
}
