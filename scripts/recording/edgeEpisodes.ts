import { rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import mqtt from 'mqtt';
import { clientId, type EdgeEpisode, rewriteConfiguration } from './edgeStage.ts';

/** Pauses between connections become long: they are not to look much longer. */
const slowly = { everyMs: 20_000, scrapes: 20 } as const;
const anHour = 130;

/** Troubles of the edge proxy, by the names of their recordings. */
export const edgeEpisodes: Readonly<Record<string, EdgeEpisode>> = {
  'good-edge': { fires: [], scrapes: anHour },
  'edge restarts': {
    fires: ['EdgeDown'],
    async trouble({ restart }) {
      for (let turn = 0; turn < 4; turn += 1) {
        await sleep(1_500);
        await restart();
      }
    },
    scrapes: 80,
  },
  'edge without a hub': { fires: ['EdgeDisconnected'], trouble: ({ hub }) => hub.close() },
  'edge without a broker': { fires: ['EdgeDisconnected'], trouble: ({ broker }) => broker.close() },
  'two proxies with one identity': {
    ...slowly,
    fires: ['EdgeDisconnected'],
    trouble: ({ startRival }) => startRival(),
  },
  'two clients with one id': {
    ...{ everyMs: 4_000, scrapes: 30, fires: ['EdgeDisconnected'] },
    async trouble({ broker, ended }) {
      const login = { username: 'edge-proxy', password: 'edge-proxy-secret' };
      const client = mqtt.connect(broker.url, { clientId, ...login, reconnectPeriod: 100 });
      client.on('error', () => {});
      ended.addEventListener('abort', () => client.end(true));
    },
  },
  'broker refuses a subscription': {
    fires: ['EdgeMethodsFail'],
    trouble({ broker, users }) {
      users['edge-proxy'] = { password: 'edge-proxy-secret', publish: ['press/in/#'], subscribe: [] };
      broker.disconnect('edge-proxy');
    },
    scrapes: 40,
  },
  'folder of a module away': {
    fires: ['EdgeMethodsFail'],
    invocation: ({ signed }) => ({
      input: { image: 'firmware.bin' },
      files: { image: signed('firmware.bin', 'firmware') },
    }),
    async trouble({ files }) {
      await rm(files, { recursive: true });
      await writeFile(files, 'not a folder');
    },
  },
  'replies that nothing asked for': {
    fires: ['EdgeFaults'],
    async trouble({ module, ended }) {
      while (!ended.aborted) {
        module.publish('press/out/200/unknown', '');
        await sleep(250);
      }
    },
  },
  'replies retained': {
    fires: ['EdgeFaults'],
    async trouble({ module, broker, ended }) {
      module.publish('press/out/200/earlier', '{}', true);
      while (!ended.aborted) {
        broker.disconnect('edge-proxy');
        await sleep(8_000);
      }
    },
    scrapes: 100,
  },
  'configuration with a fault': {
    fires: ['EdgeFaults'],
    trouble: (stage) => rewriteConfiguration(stage, '{ "hub": }'),
  },
  'connection lost during calls': {
    fires: ['EdgeFaults'],
    answer: (request) => setTimeout(() => request.reply(200), 400).unref(),
    async trouble({ hub, ended }) {
      while (!ended.aborted) {
        await hub.faults.strike({ kind: 'drop', connections: 'device' });
        await sleep(1_500);
      }
    },
    scrapes: 60,
  },
};
