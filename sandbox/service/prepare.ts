import { rm } from 'node:fs/promises';
import type { ProcessState } from '../state/state.ts';
import { writeEnvironment } from './environment.ts';
import { type ServiceProcess, type ServiceProcessOptions, startService } from './process.ts';

/** A process of the service that can be started here, or by hand with the same environment. */
export interface PreparedProcess {
  readonly state: ProcessState;
  /** The process that runs now, or ran last; `undefined` before the first one. */
  readonly process: ServiceProcess | undefined;
  /** Starts it (again, after it was stopped or killed). */
  start(): Promise<ServiceProcess>;
  /** Stops it and removes the file with its environment. */
  close(): Promise<void>;
}

/**
 * Begins the log of a process and writes its environment to a file.
 * @param path of the two, without `.log` and `.env`
 * @param healthUrl where it answers health checks
 */
export async function prepareProcess(
  path: string,
  url: string,
  healthUrl: string,
  options: Omit<ServiceProcessOptions, 'readyzUrl' | 'logFile'>,
): Promise<PreparedProcess> {
  const state: ProcessState = {
    ...{ url, livezUrl: `${healthUrl}/livez`, readyzUrl: `${healthUrl}/readyz`, logFile: `${path}.log` },
    ...{ environment: { ...options.environment }, environmentFile: `${path}.env` },
  };
  const { readyzUrl, logFile, environment, environmentFile } = state;
  await rm(logFile, { force: true });
  await writeEnvironment(environmentFile, environment);
  let process: ServiceProcess | undefined;

  return {
    state,
    get process() {
      return process;
    },
    async start() {
      process = await startService({ ...options, environment, readyzUrl, logFile });
      state.pid = process.pid;
      return process;
    },
    async close() {
      await process?.stop();
      await rm(environmentFile, { force: true });
    },
  };
}
