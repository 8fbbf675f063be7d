import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hub } from 'iot-hub-emulator';
import type { Backends } from '../backends/backends.ts';
import { givenOrFree } from '../service/freePort.ts';
import { type ServiceProcess, startService } from '../service/process.ts';
import type { EdgeState } from '../state/state.ts';
import type { Printer } from '../terminal/print.ts';
import { type Broker, type BrokerUser, startBroker } from './broker.ts';
import { line, type ModuleRequest, press, startModule } from './modules.ts';

/** An edge device: broker, proxy and modules. */
export interface EdgeDevice {
  readonly state: EdgeState;
  /** What the modules of the sandbox received, in order. */
  readonly requests: readonly ModuleRequest[];
  /** The edge proxy. */
  readonly process: ServiceProcess;
  close(): Promise<void>;
}

export interface EdgeOptions {
  readonly hub: Hub;
  readonly backends: Backends;
  /** Connection string of the storage that files come from. */
  readonly storage: string;
  /** Of the sandbox. */
  readonly directory: string;
  /** 0 or absent: a free one. */
  readonly ports: { readonly broker?: number; readonly edgeHealth?: number };
  readonly printer: Printer;
  /** The proxy logs lines for people instead of JSON. */
  readonly prettyLog: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The sandbox has no module `mine`: it is for a module of your own. */
const modules = {
  press: { objects: ['Press'], targets: [] },
  line: { objects: [], targets: ['line'] },
  mine: { objects: ['Own machine'], targets: [] },
} as const;

const topicsOf = (id: string) => ({ in: `modules/${id}/methods/in`, out: `modules/${id}/methods/out` });

/** Starts broker, proxy and modules of the device edge-1. Rejects with `ServiceFailed`, and then leaves nothing behind. */
export async function openEdge(options: EdgeOptions): Promise<EdgeDevice> {
  const { directory, ports, printer, signal } = options;
  const healthPort = await givenOrFree(ports.edgeHealth);
  const folder = join(directory, 'edge');
  const logFile = join(directory, 'edge.log');
  await Promise.all([rm(logFile, { force: true }), rm(folder, { recursive: true, force: true })]);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ids = Object.keys(modules) as (keyof typeof modules)[];
  const passwords = Object.fromEntries(['edge-proxy', ...ids].map((name) => [name, randomBytes(12).toString('hex')]));
  const broker = await startBroker({ users: usersOf(ids, passwords), ...(ports.broker && { port: ports.broker }) });
  const closers: (() => Promise<void>)[] = [broker.close];
  const close = async () => {
    for (let next = closers.pop(); next; next = closers.pop()) await next();
  };

  try {
    const configurationFile = join(folder, 'edge-proxy.json');
    const configuration = configurationOf(options, { broker, passwords, folder, healthPort });
    await writeFile(configurationFile, `${JSON.stringify(configuration, undefined, 2)}\n`, { mode: 0o600 });
    const url = `http://127.0.0.1:${healthPort}`;
    const proxy = await startService({
      name: 'The edge proxy',
      command: ['node', 'edge/dist/main.js', '--config', configurationFile],
      environment: {},
      readyzUrl: `${url}/readyz`,
      logFile,
      ...(signal && { signal }),
    });
    closers.push(() => proxy.stop());
    const requests: ModuleRequest[] = [];
    const onRequest = (request: ModuleRequest) => void requests.push(request);
    for (const [id, answer] of [
      ['press', press(join(folder, 'press'))],
      ['line', line],
    ] as const) {
      const password = passwords[id] ?? '';
      const module = await startModule({ id, url: broker.url, password, topics: topicsOf(id), answer, onRequest });
      closers.push(module.close);
    }
    printer.progress(
      `Modules of edge-1 are connected to ${broker.url}, the edge proxy is process ${proxy.pid} (log ${logFile})`,
    );
    const state: EdgeState = {
      device: 'edge-1',
      proxy: { pid: proxy.pid, livezUrl: `${url}/livez`, readyzUrl: `${url}/readyz`, logFile, configurationFile },
      broker: { url: broker.url, passwords },
      modules: Object.fromEntries(ids.map((id) => [id, { topics: topicsOf(id), files: join(folder, id) }])),
    };
    return { state, requests, process: proxy, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The access rules that docs/methods.md recommends: each module has its own topics, the proxy the other ends of all. */
function usersOf(ids: readonly string[], passwords: Readonly<Record<string, string>>): Record<string, BrokerUser> {
  const below = (end: 'in' | 'out') => ids.map((id) => `${topicsOf(id)[end]}/#`);
  return {
    'edge-proxy': { password: passwords['edge-proxy'] ?? '', publish: below('in'), subscribe: below('out') },
    ...Object.fromEntries(
      ids.map((id) => [
        id,
        { password: passwords[id] ?? '', publish: [`${topicsOf(id).out}/#`], subscribe: [`${topicsOf(id).in}/#`] },
      ]),
    ),
  };
}

interface ProxySettings {
  readonly broker: Broker;
  readonly passwords: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly healthPort: number;
}

function configurationOf(
  { hub, backends, storage, prettyLog }: EdgeOptions,
  { broker, passwords, folder, healthPort }: ProxySettings,
) {
  const objectIdOf = (name: string) => backends.world.objects.list().find((object) => object.name === name)?.objectId;
  return {
    hub: { connectionString: hub.deviceConnectionString('edge-1'), caFile: hub.caFile },
    broker: { url: broker.url, username: 'edge-proxy', password: passwords['edge-proxy'] },
    modules: Object.entries(modules).map(([id, { objects, targets }]) => ({
      id,
      objectIds: objects.map(objectIdOf),
      topics_methods_in: topicsOf(id).in,
      topics_methods_out: topicsOf(id).out,
      ...(targets.length > 0 && { gateway: { targets } }),
      files: { folder: join(folder, id), quotaBytes: 10_485_760 },
    })),
    files: { hosts: [new URL(/BlobEndpoint=([^;]+)/.exec(storage)?.[1] ?? '').host], loopbackHttp: true },
    health: { host: '127.0.0.1', port: healthPort },
    log: { pretty: prettyLog },
  };
}
