import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Backends } from '../backends/backends.ts';
import type { Hub } from '../hub/hub.ts';
import type { Printer } from '../print.ts';
import { frontDoorEnvironment, writeEnvironment } from '../serviceEnvironment.ts';
import { freePort, type ServiceProcess, startService } from '../serviceProcess.ts';
import type { MethodsState } from '../state.ts';
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
  serviceDirectory?: string | undefined;
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

/** As long as a sandbox may stay up. */
const tokenLifetimeSeconds = 30 * 24 * 3600;

/** The callers that are there to be told apart: see the keys of `MethodsState.tokens`. */
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
  const { hub, backends, directory, ports, printer, signal } = options;
  const [port, healthPort] = [ports.methods || (await freePort()), ports.methodsHealth || (await freePort())];
  const logFile = join(directory, 'methods.log');
  const environmentFile = join(directory, 'methods.env');
  await rm(logFile, { force: true });
  const storage = await startFileStorage();
  let process: ServiceProcess | undefined;

  async function close(): Promise<void> {
    await process?.stop();
    await storage.close();
    await rm(environmentFile, { force: true });
  }

  try {
    const at = { port, healthPort };
    const environment = { ...frontDoorEnvironment(hub, backends, storage, at), ...options.environment };
    const state: MethodsState = {
      url: `http://127.0.0.1:${port}`,
      livezUrl: `http://127.0.0.1:${healthPort}/livez`,
      readyzUrl: `http://127.0.0.1:${healthPort}/readyz`,
      logFile,
      environment,
      environmentFile,
      tokens: issueTokens(backends),
      files: { connectionString: storage.connectionString, container: storage.container },
    };
    await writeEnvironment(environmentFile, environment);
    if (options.isStarted) {
      process = await startService({
        name: 'The front door',
        command: ['node', 'dist/methods.js'],
        environment,
        readyzUrl: state.readyzUrl,
        logFile,
        ...(options.serviceDirectory && { directory: options.serviceDirectory }),
        ...(signal && { signal }),
      });
      state.pid = process.pid;
      printer.progress(`Remote methods are invoked at ${state.url} (process ${process.pid}, log ${logFile})`);
    }
    return { state, process, close };
  } catch (error) {
    await close();
    throw error;
  }
}
