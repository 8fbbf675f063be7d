import { mkdirSync } from 'node:fs';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HubPorts } from 'iot-hub-emulator';
import { sandboxDirectory } from './directories.ts';

/** Everything that a tool, a test or a person needs to use a running sandbox. */
export interface SandboxState {
  /** Process id of the sandbox: the hub and the backends. */
  pid: number;
  /** ISO 8601, UTC. */
  startedAt: string;
  hub: {
    name: string;
    hostName: string;
    ports: HubPorts;
    /** PEM file of the authority behind the hub's TLS ports. */
    caFile: string;
    adminUrl: string;
    eventsConnectionString: string;
    serviceConnectionString: string;
    /** Of the policy that may do everything, the registry included. */
    ownerConnectionString: string;
    /** Connection strings of the devices that existed at the start. */
    devices: Record<string, string>;
    /** Keys of devices that are registered later are derived from it, so that a second registration finds the same key. */
    deviceKeySecret: string;
  };
  backends: {
    informationModelUrl: string;
    typeRegistryUrl: string;
    principalManagerUrl: string;
    adminUrl: string;
    token: { url: string; clientId: string; clientSecret: string };
  };
  /** `adminUrl` is where an operator asks it what it does. */
  service: ProcessState & { adminUrl: string };
  /** Absent in a sandbox without remote methods. */
  methods?: MethodsState;
  /** Its web page; absent in a sandbox without one. */
  page?: { url: string };
  /** Absent in a sandbox without an edge device. */
  edge?: EdgeState;
}

/** A process of the service. */
export interface ProcessState {
  url: string;
  livezUrl: string;
  readyzUrl: string;
  /** Absent when it was left out, so that it can be started in a debugger. */
  pid?: number;
  logFile: string;
  /** The whole configuration; `environmentFile` has the same for a shell or a debugger. */
  environment: Record<string, string>;
  environmentFile: string;
}

/** The front door of remote methods, where `url` takes the invocations, those who use it, and their files. */
export interface MethodsState extends ProcessState {
  /** Bearer tokens of applications: one that may invoke, one that may only read, one of another tenant, and one that is out of date. */
  tokens: { invoker: string; reader: string; stranger: string; expired: string };
  /** Each tenant has a folder there. */
  files: { connectionString: string; container: string };
  /** Where an operator asks it what it does. */
  adminUrl: string;
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
  /** By id. `mine` is for a module of your own, which has the methods of `edge-1/mine`; the sandbox does not run it. */
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

/** The state of the sandbox that runs in `directory`. Rejects when there is none. */
export async function readRunning(directory: string): Promise<SandboxState> {
  const state = await readState(directory);
  if (state && (await isRunning(state))) return state;
  throw new Error(`No sandbox is running in ${directory}. Start one with: npm run sandbox`);
}

/** Publishes the state, whole or not at all, readable by its owner only. Rejects with `EEXIST` when there is one already. */
export async function publishState(state: SandboxState, directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
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
