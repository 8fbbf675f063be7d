import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hub, startHub } from 'iot-hub-emulator';
import { type Broker, type BrokerUser, startBroker } from '../../sandbox/edge/broker.ts';
import { buildService } from '../../sandbox/service/build.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { type ServiceProcess, startService } from '../../sandbox/service/process.ts';
import { type FileServer, startFileServer } from '../../test/edge/support/fileServer.ts';
import {
  connectModule,
  type Received,
  type TestModule,
  users as usersOfBroker,
} from '../../test/edge/support/testEdge.ts';
import { pressObject } from '../../test/edge/support/testProxy.ts';
import { createScraper, type Scrapes } from './series.ts';
import { type Episode, goodScrapes } from './stage.ts';

/** A good time of an edge proxy, and a trouble that one or more of its alerts are for. */
export interface EdgeEpisode extends Pick<Episode, 'fires' | 'scrapes' | 'everyMs'> {
  /** Of the module press; default: it replies. */
  readonly answer?: (request: Received) => void;
  readonly invocation?: (server: FileServer) => object;
  trouble?(stage: EdgeStage): Promise<void> | void;
}

/** A hub, a broker, the edge proxy between them and a module of it. */
export interface EdgeStage {
  readonly hub: Hub;
  readonly broker: Broker;
  /** Those of the broker, whose rights may be changed. */
  readonly users: Record<string, BrokerUser>;
  readonly module: TestModule;
  readonly files: string;
  readonly configurationFile: string;
  /** Kills the proxy, and starts it again. */
  restart(): Promise<void>;
  /** Another proxy with the same identity, at a broker of its own. */
  startRival(): Promise<void>;
  readonly ended: AbortSignal;
}

const deviceId = 'edge-1';
export const clientId = 'edge-proxy-of-press';

/** Runs an episode: scrapes of a good time, then of the trouble. An application invokes a method all the time. */
export async function recordEdgeEpisode(episode: EdgeEpisode, directory: string): Promise<readonly Scrapes[]> {
  await buildService();
  const ended = new AbortController();
  const closers: (() => Promise<unknown>)[] = [];
  try {
    const hub = await startHub({ directory: join(directory, 'hub'), devices: [{ deviceId }] });
    closers.push(() => hub.close());
    const users = { ...usersOfBroker };
    const broker = await startBroker({ users });
    closers.push(() => broker.close());
    const files = join(directory, 'files');
    const server = await startFileServer();
    closers.push(() => server.close());

    async function startProxy(name: string, url: string) {
      const port = await freePort();
      const configurationFile = join(directory, `${name}.json`);
      const configuration = JSON.stringify(configurationOf({ hub, url, files, server, port }));
      await writeFile(configurationFile, configuration, { mode: 0o600 });
      const address = `http://127.0.0.1:${port}`;
      let proxy: ServiceProcess | undefined;
      const start = async () => {
        proxy = await startService({
          name: 'The edge proxy',
          command: ['node', 'edge/dist/main.js', '--config', configurationFile],
          ...{ environment: {}, readyzUrl: `${address}/readyz`, logFile: join(directory, `${name}.log`) },
        });
      };
      closers.push(async () => proxy?.kill());
      await start();
      const restart = async () => {
        await proxy?.kill();
        await start();
      };
      return { configurationFile, address, restart };
    }

    const { configurationFile, address, restart } = await startProxy('proxy', broker.url);
    const module = await connectModule({
      ...{ url: broker.url, id: 'press' },
      answer: episode.answer ?? ((request) => request.reply(200)),
    });
    closers.push(() => module.close());
    const stage: EdgeStage = {
      ...{ hub, broker, users, module, files, configurationFile, restart, ended: ended.signal },
      async startRival() {
        const another = await startBroker({ users: usersOfBroker });
        closers.push(() => another.close());
        await startProxy('rival', another.url);
      },
    };
    const invoking = invokeSteadily(hub, episode.invocation?.(server) ?? {}, ended.signal);
    const { scrapes, scrape } = createScraper([`${address}/metrics`]);
    await scrape(goodScrapes);
    const trouble = episode.trouble?.(stage);
    await scrape(episode.scrapes ?? 24, episode.everyMs);
    ended.abort();
    await Promise.all([trouble, invoking]);
    return scrapes;
  } finally {
    ended.abort();
    for (let next = closers.pop(); next; next = closers.pop()) await next().catch(() => {});
  }
}

type Configured = Readonly<{ hub: Hub; url: string; files: string; server: FileServer; port: number }>;

const configurationOf = ({ hub, url, files, server, port }: Configured) => ({
  hub: { connectionString: hub.deviceConnectionString(deviceId), caFile: hub.caFile },
  broker: { url, username: 'edge-proxy', password: 'edge-proxy-secret', clientId },
  modules: [
    {
      ...{ id: 'press', objectIds: [pressObject], topics_methods_in: 'press/in', topics_methods_out: 'press/out' },
      files: { folder: files },
    },
  ],
  files: { hosts: [server.host], loopbackHttp: true },
  health: { host: '127.0.0.1', port },
});

async function invokeSteadily(hub: Hub, invocation: object, ended: AbortSignal): Promise<void> {
  const payload = {
    ...{ correlationId: 'c-1', objectId: pressObject, model: 'svc.device', target: '', method: 'stop', timeout: 5 },
    ...invocation,
  };
  while (!ended.aborted) {
    const call = { methodName: 'invokeMethod', payload, responseTimeoutMs: 5_000, connectTimeoutMs: 0 };
    await hub.methods.invoke(deviceId, call).catch(() => {}); // the device may be away
    await sleep(100);
  }
}

/** Puts another file in the place of the proxy’s configuration, as editors do. */
export async function rewriteConfiguration({ configurationFile }: EdgeStage, text: string): Promise<void> {
  await writeFile(`${configurationFile}.next`, text, { mode: 0o600 });
  await rename(`${configurationFile}.next`, configurationFile);
}
