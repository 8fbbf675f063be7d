import { join } from 'node:path';
import type { Hub } from 'iot-hub-emulator';
import type { Backends } from '../backends/backends.ts';
import { frontDoorEnvironment } from '../service/environment.ts';
import { freePort, givenOrFree } from '../service/freePort.ts';
import { type PreparedProcess, prepareProcess } from '../service/prepare.ts';
import type { ServiceProcess } from '../service/process.ts';
import type { MethodsState } from '../state/state.ts';
import type { Printer } from '../terminal/print.ts';
import { startFileStorage } from './fileStorage.ts';

export interface FrontDoorOptions {
  hub: Hub;
  backends: Backends;
  /** Of the sandbox. */
  directory: string;
  /** 0 or absent: a free one. */
  ports: { methods?: number; methodsHealth?: number };
  /** `false`: only its environment and port are prepared, for one that is started by hand. */
  isStarted: boolean;
  /** A folder with a built front door (`dist/methods.js`); default the project. */
  buildDirectory?: string | undefined;
  /** Added to its environment. */
  environment?: Readonly<Record<string, string>> | undefined;
  printer: Printer;
  signal?: AbortSignal | undefined;
}

/** The front door of remote methods with its storage of files, and the tokens of those who use it. */
export interface FrontDoor {
  state: MethodsState;
  readonly process: ServiceProcess | undefined;
  close(): Promise<void>;
}

/** Longer than a sandbox usually runs. */
const tokenLifetimeSeconds = 30 * 24 * 3600;

/** One token for each kind of caller. */
function issueTokens({ applications }: Backends): MethodsState['tokens'] {
  const issue = (name: string, tenant: string, mayInvoke: boolean, seconds = tokenLifetimeSeconds) =>
    applications.issue({ name, tenant, mayInvoke }, seconds);
  return {
    invoker: issue('control-room', 'acme', true),
    reader: issue('dashboard', 'acme', false),
    stranger: issue('competitor', 'globex', true),
    expired: issue('last-year', 'acme', true, -3600),
  };
}

/** Starts storage and front door. Rejects with `ServiceFailed`, and then leaves nothing behind. */
export async function openFrontDoor(options: FrontDoorOptions): Promise<FrontDoor> {
  const { hub, backends, directory, ports, buildDirectory, printer, signal } = options;
  const [port, healthPort] = [await givenOrFree(ports.methods), await givenOrFree(ports.methodsHealth)];
  const adminPort = await freePort();
  const storage = await startFileStorage();
  let frontDoor: PreparedProcess | undefined;

  async function close(): Promise<void> {
    await frontDoor?.close();
    await storage.close();
  }

  try {
    const environment = frontDoorEnvironment(hub, backends, storage, { port, healthPort, adminPort });
    const urls = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${healthPort}`] as const;
    frontDoor = await prepareProcess(join(directory, 'methods'), ...urls, {
      ...{ name: 'The front door', command: ['node', 'dist/methods.js'], directory: buildDirectory, signal },
      environment: { ...environment, ...options.environment },
    });
    const { connectionString, container } = storage;
    const tokens = issueTokens(backends);
    const state: MethodsState = Object.assign(frontDoor.state, {
      ...{ tokens, files: { connectionString, container } },
      adminUrl: `http://127.0.0.1:${adminPort}`,
    });
    if (options.isStarted) {
      const { pid } = await frontDoor.start();
      printer.progress(`Remote methods are invoked at ${state.url} (process ${pid}, log ${state.logFile})`);
    }
    return { state, process: frontDoor.process, close };
  } catch (error) {
    await close();
    throw error;
  }
}
