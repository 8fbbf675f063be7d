import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Hub, startHub } from 'iot-hub-emulator';
import { createJournal } from 'iot-hub-emulator/journal';
import { type Backends, startBackends } from './backends/backends.ts';
import type { Told } from './demonstration/exchange.ts';
import { describeBackends, describeHub } from './describe.ts';
import { connectDevice, type Device } from './device/device.ts';
import { registerDevice } from './device/register.ts';
import { type EdgeDevice, openEdge } from './edge/edge.ts';
import { type FrontDoor, openFrontDoor } from './methods/frontDoor.ts';
import { openPage } from './page/pageServer.ts';
import { checkNotRunning } from './running.ts';
import type { SandboxOptions } from './sandboxOptions.ts';
import { buildService } from './service/build.ts';
import { dataDirectory, serviceEnvironment } from './service/environment.ts';
import { checkPorts, freePort, givenOrFree } from './service/freePort.ts';
import { prepareProcess } from './service/prepare.ts';
import type { ServiceProcess } from './service/process.ts';
import { sandboxDirectory } from './state/directories.ts';
import { publishState, removeState, type SandboxState } from './state/state.ts';
import { silent } from './terminal/print.ts';

/** The devices that exist from the start, in the hub as in the principal manager. */
const initialDevices = ['pump-1', 'pump-2', 'gateway-1', 'motor-1', 'motor-2', 'edge-1', 'rival-1'];

/** Consumer group for who reads beside the service, which has the usual one for itself. */
const secondReaders = 'other';

/** A hub, the backends and the service on this machine. */
export interface Sandbox {
  state: SandboxState;
  hub: Hub;
  backends: Backends;
  /** The process that runs now, or ran last; `undefined` before the first one. */
  readonly service: ServiceProcess | undefined;
  readonly frontDoor: FrontDoor | undefined;
  readonly edge: EdgeDevice | undefined;
  /** Starts the service (again, after it was stopped or killed). */
  startService(): Promise<ServiceProcess>;
  /** A connected device; one that hub and principal manager do not know yet is registered there first. */
  connect(deviceId: string): Promise<Device>;
  /** Has the page tell what the demonstration says. */
  tell(told: Told): void;
  /** Ends the service, then closes every port and removes the state file. */
  close(): Promise<void>;
}

/** Rejects with `AlreadyRunning`, `BuildFailed` or `ServiceFailed`, and then leaves nothing behind. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const {
    directory = sandboxDirectory,
    ports = {},
    printer = silent,
    signal,
    serviceDirectory: buildDirectory,
    prettyLog = false,
  } = options;
  const logging: Record<string, string> = prettyLog ? { LOG_PRETTY: 'true' } : {};
  await checkNotRunning(directory, printer);
  // Before anything starts: what is wrong is told at once.
  await checkPorts(Object.values(ports).flatMap((port) => (typeof port === 'number' ? port : Object.values(port))));
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  await rm(dataDirectory(directory), { recursive: true, force: true });

  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (let next = closers.pop(); next; next = closers.pop()) await next();
  };

  try {
    const journal = createJournal();
    const hub = await startHub({
      journal,
      directory: join(directory, 'hub'),
      devices: initialDevices.map((deviceId) => ({ deviceId })),
      ...(ports.hub && { ports: ports.hub }),
      consumerGroups: [secondReaders, ...(options.consumerGroups ?? [])],
      rules: options.hubRules ?? {},
      otherwise: options.otherwise ?? [],
    });
    closers.push(() => hub.close());
    const { amqp, amqps, mqtts } = hub.ports;
    printer.progress(`The hub listens on ${hub.hostName}: MQTT ${mqtts}, AMQP ${amqp} and ${amqps} (TLS)`);

    const backends = await startBackends({
      ...{ seed: true, journal, ...(ports.backends && { ports: ports.backends }) },
      ...(options.store && { directory: join(directory, 'backends') }),
    });
    closers.push(() => backends.close());
    printer.progress('The backends listen: information model, type registry, principal manager');

    if (!buildDirectory && (options.service !== false || options.methods === 'running')) {
      const took = await buildService();
      printer.progress(`The service is built (${(took / 1000).toFixed(1)} s)`);
    }

    // Chosen last: until they are taken, other programs can take them.
    const url = `http://127.0.0.1:${await givenOrFree(ports.service)}`;
    const adminPort = await freePort();
    const service = await prepareProcess(join(directory, 'service'), url, url, {
      ...{ command: options.serviceCommand, directory: buildDirectory, signal },
      environment: {
        ...serviceEnvironment(hub, backends, url, directory),
        ADMIN_PORT: String(adminPort),
        ...logging,
        ...options.environment,
      },
    });
    closers.push(() => service.close());
    const state: SandboxState = {
      pid: process.pid,
      startedAt: new Date().toISOString(),
      hub: describeHub(hub, initialDevices),
      backends: describeBackends(backends),
      service: Object.assign(service.state, { adminUrl: `http://127.0.0.1:${adminPort}` }),
    };
    let frontDoor: FrontDoor | undefined;
    closers.push(async () => frontDoor?.close());
    let edge: EdgeDevice | undefined;
    closers.push(async () => edge?.close());
    const startMethods = async () => {
      if (!options.methods) return;
      const isStarted = options.methods === 'running';
      const common = { hub, backends, directory, ports, printer, signal };
      frontDoor = await openFrontDoor({
        ...common,
        isStarted,
        buildDirectory,
        environment: { ...logging, ...options.methodsEnvironment },
      });
      state.methods = frontDoor.state;
      if (!options.edge || !isStarted) return;
      const storage = frontDoor.state.files.connectionString;
      edge = await openEdge({ ...common, storage, prettyLog });
      state.edge = edge.state;
    };
    const startFirst = async () => {
      if (options.service === false) return;
      const { pid, readyAfterMs } = await service.start();
      const seconds = (readyAfterMs / 1000).toFixed(1);
      printer.progress(`The service is ready after ${seconds} s (process ${pid}, log ${service.state.logFile})`);
    };
    const starting = await Promise.allSettled([startFirst(), startMethods()]);
    for (const start of starting) if (start.status === 'rejected') throw start.reason;

    const told: Told[] = [];
    if (options.page) {
      const connect = (id: string) => connectTo(id, state, hub.caFile);
      const page = await openPage({ state, journal, connect, told }, ports.page ?? 0);
      closers.push(() => page.close());
      state.page = { url: page.url };
    }

    await publishState(state, directory);
    closers.push(() => removeState(directory));

    return {
      ...{ state, hub, backends, frontDoor, edge, close },
      get service() {
        return service.process;
      },
      async startService() {
        if (!buildDirectory) await buildService();
        return service.start();
      },
      connect: (id) => connectTo(id, state, hub.caFile),
      tell: (one) => void told.push(one),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function connectTo(id: string, state: SandboxState, caFile: string): Promise<Device> {
  const { connectionString } = await registerDevice(id, state);
  return connectDevice({ id, connectionString, caFile });
}
