import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's own folder: where `package.json` is, wherever the command was started. */
export const projectDirectory = dirname(dirname(fileURLToPath(import.meta.url)));

/** Where a sandbox started from the command line keeps everything. Ignored by git: it holds keys. */
export const sandboxDirectory = join(projectDirectory, '.sandbox');

/** Everything that a tool, a test or a person needs to use a running sandbox. */
export interface SandboxState {
  /** Process id of the sandbox: the hub and the backends. */
  pid: number;
  /** ISO 8601, UTC. */
  startedAt: string;
  hub: {
    name: string;
    hostName: string;
    ports: { amqp: number; amqps: number; mqtts: number; admin: number };
    /** PEM file of the authority behind the hub's TLS ports. */
    caFile: string;
    adminUrl: string;
    eventsConnectionString: string;
    serviceConnectionString: string;
    /** Connection strings of the devices that existed at the start. */
    devices: Record<string, string>;
    /** The keys of devices that are introduced later are derived from it: everybody who reads this file knows them. */
    introductionSecret: string;
  };
  backends: {
    informationModelUrl: string;
    typeRegistryUrl: string;
    principalManagerUrl: string;
    adminUrl: string;
    token: { url: string; clientId: string; clientSecret: string };
  };
  service: {
    url: string;
    livezUrl: string;
    readyzUrl: string;
    /** Absent when the service was left out, so that it can be started in a debugger. */
    pid?: number;
    logFile: string;
    /** The whole configuration of the service; `environmentFile` has the same for a shell or a debugger. */
    environment: Record<string, string>;
    environmentFile: string;
  };
  /** Absent in a sandbox without remote methods. */
  methods?: MethodsState;
  /** Absent in a sandbox without an edge device. */
  edge?: EdgeState;
}

/** The front door of remote methods, those who use it, and their files. */
export interface MethodsState {
  /** Where methods are invoked. */
  url: string;
  livezUrl: string;
  readyzUrl: string;
  /** Absent when it was left out, so that it can be started in a debugger. */
  pid?: number;
  logFile: string;
  environment: Record<string, string>;
  environmentFile: string;
  /** Bearer tokens of applications: one that may invoke, one that may only read, one of another tenant, and one that is out of date. */
  tokens: { invoker: string; reader: string; stranger: string; expired: string };
  /** Each tenant has a folder there. */
  files: { connectionString: string; container: string };
}

/** An edge device with modules: the edge proxy, and the broker between them. */
export interface EdgeState {
  /** Id of the device that the proxy connects as. */
  device: string;
  proxy: {
    pid: number;
    livezUrl: string;
    readyzUrl: string;
    logFile: string;
    configurationFile: string;
  };
  broker: {
    url: string;
    /** By user name: that of a module is its id. */
    passwords: Record<string, string>;
  };
  /** By id. Nobody connects as `mine`: it is for a module of one's own, which has the methods of `edge-1/mine`. */
  modules: Record<string, { topics: { in: string; out: string }; files: string }>;
}

const stateFile = (directory: string) => join(directory, 'state.json');

/** The state of the sandbox in `directory`, or `undefined` when there is none. Whether it still runs is for `isRunning`. */
export async function readState(directory = sandboxDirectory): Promise<SandboxState | undefined> {
  try {
    return JSON.parse(await readFile(stateFile(directory), 'utf8')) as SandboxState;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Publishes the state, whole or not at all, readable by its owner only. Rejects with `EEXIST` when there is one already. */
export async function publishState(state: SandboxState, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const draft = join(directory, `state.${process.pid}.json`);
  await writeFile(draft, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 });
  try {
    await link(draft, stateFile(directory));
  } finally {
    await rm(draft, { force: true });
  }
}

export async function removeState(directory: string): Promise<void> {
  await rm(stateFile(directory), { force: true });
}

/** Whether the sandbox that wrote this state is still there: its process lives and its hub answers. */
export async function isRunning(state: SandboxState): Promise<boolean> {
  try {
    process.kill(state.pid, 0);
    return (await fetch(state.hub.adminUrl, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}
