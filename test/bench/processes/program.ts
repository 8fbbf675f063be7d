import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spawn } from '../../../sandbox/service/endWithUs.ts';
import { freePort } from '../../../sandbox/service/freePort.ts';
import { answers, type ServiceProcess, startService } from '../../../sandbox/service/process.ts';
import { launcher, projectDirectory } from '../../../sandbox/state/directories.ts';
import { withConstants } from '../../support/processes.ts';
import type { Environment } from '../programs/environment.ts';
import type { StageDescription } from './methodsStage.ts';

/** What a process has used, read from /proc (Linux), so that it is not disturbed by being measured. */

/** CPU of all its threads in µs, user and system together, those that have ended not included. */
export const cpuOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + scheduled(pid, thread).ran, 0);

/** For how long its main thread has run or waited for a core, in µs: the rest of the time it had nothing to do (D370). */
export function mainThreadBusy(pid: number): number {
  const { ran, waited } = scheduled(pid, String(pid));
  return ran + waited;
}

function scheduled(pid: number, thread: string): { readonly ran: number; readonly waited: number } {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ').map(Number);
  return { ran: ran / 1000, waited: waited / 1000 };
}

/** Memory in MB: what it has now, or the most that it ever had. */
export function residentOf(pid: number, what: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, kilobytes = '0'] = new RegExp(`${what}:\\s+(\\d+)`).exec(status) ?? [];
  return Number(kilobytes) / 1024;
}

/**
 * The arguments of Node.js with which the image of a build starts its program: flags, and the file within the build.
 * @param build the folder of a checkout that is built
 */
function imageCommand(build: string, dockerfile: 'Dockerfile' | 'edge/Dockerfile'): readonly string[] {
  const [, command = '[]'] = /^CMD (.*)$/m.exec(readFileSync(join(build, dockerfile), 'utf8')) ?? [];
  const [, ...args] = JSON.parse(command) as string[];
  return args.map((part) => (part.startsWith('-') ? part : join(build, part)));
}

/** The built service, and the programs that it is compared with. */
type Program = 'service' | 'floor' | 'usual' | 'idle' | 'echo';

export interface ProgramOptions {
  readonly program: Program;
  /** Added to the service's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
  /** The folder of the checkout whose service is started; default: this one. */
  readonly build?: string;
}

const programFile = (name: Program) => fileURLToPath(new URL(`../programs/${name}.ts`, import.meta.url));

/**
 * A program under test, in a process of its own.
 * @throws Error when it ends before it is ready
 */
export async function startProgram(
  { program, environment = {}, nodeOptions = [], build = projectDirectory }: ProgramOptions,
  place: Environment,
  caFile: string,
  directory: string,
) {
  const isService = program === 'service';
  const port = isService ? await freePort() : 0;
  const logFile = join(directory, 'program.log');
  const log = openSync(logFile, 'w');
  const began = performance.now();
  const code = isService ? imageCommand(build, 'Dockerfile') : [launcher, programFile(program)];
  const child = spawn(process.execPath, [...nodeOptions, ...code], {
    cwd: directory,
    stdio: isService ? ['ignore', log, log] : ['ignore', log, log, 'ipc'],
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

  /** @throws Error with the end of its log when it has ended */
  const requireAlive = () => {
    if (hasEnded()) throw new Error(`${program} has ended:\n${readFileSync(logFile, 'utf8').slice(-3_000)}`);
  };
  while (!(isService ? await answers(`http://127.0.0.1:${port}/readyz`) : isReady)) {
    requireAlive();
    await sleep(5);
  }
  return {
    /** Where the service answers for its health and metrics, and what it wrote. */
    ...{ pid, url: `http://127.0.0.1:${port}`, logFile, requireAlive },
    /** From its start until it was ready, in ms, and its CPU by then in µs. */
    start: { readyMs: performance.now() - began, cpu: cpuOf(pid) },
    async kill() {
      child.kill('SIGKILL');
      if (!hasEnded()) await exited;
    },
  };
}

export type RunningProgram = Awaited<ReturnType<typeof startProgram>>;

/** Production settings: nothing but what has no default. */
const serviceEnvironment = (place: Environment, port: number): Record<string, string> => ({
  NODE_ENV: 'production',
  HUB_EVENTS_CONNECTION_STRING: place.eventsConnectionString,
  HUB_SERVICE_CONNECTION_STRING: place.serviceConnectionString,
  INFORMATION_MODEL_URL: `${place.backendsUrl}/im`,
  TYPE_REGISTRY_URL: `${place.backendsUrl}/tr`,
  PRINCIPAL_MANAGER_URL: `${place.backendsUrl}/pm`,
  ...{ BACKENDS_TOKEN: 'bench', HTTP_HOST: '127.0.0.1', HTTP_PORT: String(port), ADMIN_PORT: '0' },
});

export interface MethodsProgram extends ServiceProcess {
  readonly port: number;
}

/** Starts the front door of a build, or the bare handler that it is compared with. */
export async function startMethodsProgram(
  program: 'front door' | 'bare',
  { serviceConnectionString, caFile, backendsPort }: StageDescription,
  directory: string,
  build = projectDirectory,
  inFlightPerDevice?: number,
): Promise<MethodsProgram> {
  const [port, healthPort] = [await freePort(), await freePort()];
  const isBare = program === 'bare';
  const process = await startService({
    name: program,
    environment: {
      ...{ NODE_ENV: 'production', NODE_EXTRA_CA_CERTS: caFile, BENCH: JSON.stringify({ serviceConnectionString }) },
      HUB_SERVICE_CONNECTION_STRING: serviceConnectionString,
      INFORMATION_MODEL_URL: `http://127.0.0.1:${backendsPort}/im`,
      TYPE_REGISTRY_URL: `http://127.0.0.1:${backendsPort}/tr`,
      BACKENDS_TOKEN: 'bench',
      METHODS_PORT: String(port),
      ...(inFlightPerDevice !== undefined && withConstants({ invocationLimits: { inFlightPerDevice } })),
      ...{ HTTP_HOST: '127.0.0.1', HTTP_PORT: String(healthPort), ADMIN_PORT: '0' },
    },
    command: isBare ? ['node', 'scripts/run.js', 'test/bench/programs/bareMethods.ts'] : ['node', 'dist/methods.js'],
    directory: build,
    readyzUrl: isBare ? `http://127.0.0.1:${port}/ready` : `http://127.0.0.1:${healthPort}/readyz`,
    logFile: join(directory, `${isBare ? 'bare' : 'door'}.log`),
  });
  return { ...process, port };
}

export async function startEdgeProxy(
  stage: StageDescription,
  directory: string,
  inFlight: number,
  build: string,
): Promise<ServiceProcess> {
  const port = await freePort();
  const file = join(directory, 'edge-proxy.json');
  const configuration = {
    hub: { connectionString: stage.deviceConnectionString, caFile: stage.caFile },
    broker: { url: stage.brokerUrl, username: 'proxy', password: 'bench' },
    modules: [
      { id: 'press', objectIds: [stage.ofModule], topics_methods_in: 'press/in', topics_methods_out: 'press/out' },
    ],
    limits: { inFlight, inFlightPerModule: inFlight },
    health: { host: '127.0.0.1', port },
  };
  await writeFile(file, JSON.stringify(configuration), { mode: 0o600 });
  return startService({
    name: 'The edge proxy',
    environment: { NODE_ENV: 'production' },
    command: ['node', ...imageCommand(build, 'edge/Dockerfile'), '--config', file],
    directory: build,
    readyzUrl: `http://127.0.0.1:${port}/readyz`,
    logFile: join(directory, 'edge.log'),
  });
}
