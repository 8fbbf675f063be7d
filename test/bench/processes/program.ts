import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spawn } from '../../../sandbox/service/endWithUs.ts';
import { freePort } from '../../../sandbox/service/freePort.ts';
import { answers } from '../../../sandbox/service/process.ts';
import { launcher, projectDirectory } from '../../../sandbox/state/directories.ts';
import type { Environment } from '../programs/environment.ts';
import { imageCommand } from './imageCommand.ts';
import { cpuOf } from './usage.ts';

/** A program under test, in a process of its own. */
export interface RunningProgram {
  readonly pid: number;
  /** Where the service answers for its health and metrics. */
  readonly url: string;
  /** What it wrote, and V8's line for each garbage collection. */
  readonly logFile: string;
  /** From its start until it was ready, in ms, and its CPU by then in µs. */
  readonly start: { readonly readyMs: number; readonly cpu: number };
  /** @throws Error with the end of its log when it has ended */
  requireAlive(): void;
  /** Tells a program whose metrics can be switched whether it records them; settles when it does so. */
  recordMetrics(isOn: boolean): Promise<void>;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** The built service, the same with a switch for its metrics, and the programs that it is compared with. */
export type Program = 'service' | 'switchedMetrics' | 'floor' | 'usual' | 'idle' | 'echo';

export interface ProgramOptions {
  readonly program: Program;
  /** Added to the service's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
  /** The folder of the checkout whose service is started; default: this one. */
  readonly build?: string;
}

const programFile = (name: Program) => fileURLToPath(new URL(`../programs/${name}.ts`, import.meta.url));

/** @throws Error when it ends before it is ready */
export async function startProgram(
  { program, environment = {}, nodeOptions = [], build = projectDirectory }: ProgramOptions,
  place: Environment,
  caFile: string,
  directory: string,
): Promise<RunningProgram> {
  const hasParent = program !== 'service';
  const isService = !hasParent || program === 'switchedMetrics';
  const port = isService ? await freePort() : 0;
  const logFile = join(directory, 'program.log');
  const log = openSync(logFile, 'w');
  const began = performance.now();
  const service = imageCommand(build, 'Dockerfile');
  const ofBench = [launcher, programFile(program)];
  const code = hasParent ? [...(isService ? service.slice(0, -1) : []), ...ofBench] : service;
  const child = spawn(process.execPath, ['--trace-gc-nvp', ...nodeOptions, ...code], {
    cwd: directory,
    stdio: hasParent ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
    env: {
      PATH: process.env['PATH'],
      NODE_EXTRA_CA_CERTS: caFile,
      ...(isService ? { ...serviceEnvironment(place, port), ...environment } : { BENCH: JSON.stringify(place) }),
    },
  });
  closeSync(log);
  const pid = child.pid ?? 0;
  const exited = once(child, 'exit');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  let isReady = false;
  child.once('message', () => {
    isReady = true;
  });

  const requireAlive = () => {
    if (hasEnded()) throw new Error(`${program} has ended:\n${readFileSync(logFile, 'utf8').slice(-3_000)}`);
  };
  while (!(isService ? await answers(`http://127.0.0.1:${port}/readyz`) : isReady)) {
    requireAlive();
    await sleep(5);
  }
  return {
    pid,
    url: `http://127.0.0.1:${port}`,
    logFile,
    start: { readyMs: performance.now() - began, cpu: cpuOf(pid) },
    requireAlive,
    async recordMetrics(isOn) {
      const done = once(child, 'message');
      child.send({ isOn });
      await done;
    },
    async end(signal) {
      child.kill(signal);
      if (!hasEnded()) await exited;
    },
  };
}

/** Production settings: nothing but what has no default. */
const serviceEnvironment = (place: Environment, port: number): Record<string, string> => ({
  NODE_ENV: 'production',
  HUB_EVENTS_CONNECTION_STRING: place.eventsConnectionString,
  HUB_SERVICE_CONNECTION_STRING: place.serviceConnectionString,
  INFORMATION_MODEL_URL: `${place.backendsUrl}/im`,
  TYPE_REGISTRY_URL: `${place.backendsUrl}/tr`,
  PRINCIPAL_MANAGER_URL: `${place.backendsUrl}/pm`,
  BACKENDS_TOKEN: 'bench',
  HTTP_HOST: '127.0.0.1',
  HTTP_PORT: String(port),
  ADMIN_PORT: '0',
});
