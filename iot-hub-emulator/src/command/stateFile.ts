import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdminPort } from '../admin/ask.ts';
import type { Hub } from '../hub.ts';
import { writeWhole } from '../identity/secretFile.ts';
import type { HubPorts } from '../network/hubPorts.ts';

/** Everything that a program needs to use a hub that runs. */
export interface HubState {
  pid: number;
  /** ISO 8601, UTC. */
  startedAt: string;
  name: string;
  hostName: string;
  ports: HubPorts;
  /** PEM file of the authority behind the TLS ports. */
  caFile: string;
  adminUrl: string;
  /** Absent if the admin port is not open to other machines. */
  adminToken?: string | undefined;
  eventsConnectionString: string;
  serviceConnectionString: string;
  /** With all rights. */
  ownerConnectionString: string;
  /** Connection strings of the devices that were there at the start. */
  devices: Record<string, string>;
}

const fileOf = (directory: string): string => join(directory, 'hub.json');

/** The state of a hub that has just started. */
export function describe(hub: Hub, now: Date): HubState {
  const { name, hostName, ports, caFile, adminUrl, adminToken, eventsConnectionString, serviceConnectionString } = hub;
  return {
    pid: process.pid,
    startedAt: now.toISOString(),
    name,
    hostName,
    ports,
    caFile,
    adminUrl,
    adminToken,
    eventsConnectionString,
    serviceConnectionString,
    ownerConnectionString: hub.connectionString('iothubowner'),
    devices: Object.fromEntries(
      hub.registry.list().map(({ deviceId }) => [deviceId, hub.deviceConnectionString(deviceId)]),
    ),
  };
}

/** Leave the state where other programs find it, for its owner's eyes only. The answer takes it away. */
export async function publish(directory: string, state: HubState): Promise<() => Promise<void>> {
  await writeWhole(fileOf(directory), `${JSON.stringify(state, undefined, 2)}\n`);
  return () => rm(fileOf(directory), { force: true });
}

/** Keys must not get into a repository: what is in a directory that was not asked for is nothing that git sees. */
export const hideFromGit = (directory: string): Promise<void> => writeWhole(join(directory, '.gitignore'), '*\n');

/** The admin port of the hub that was started in `directory`; failing that, of the sandbox that was started in `sandbox`. */
export function findAdmin(directory: string, sandbox: string): AdminPort | undefined {
  const found = read<HubState>(fileOf(directory)) ?? read<{ hub?: HubState }>(join(sandbox, 'state.json'))?.hub;
  return found && { url: found.adminUrl, token: found.adminToken };
}

/** Whether a hub answers there, even if it asks for a token. */
export async function answers(adminUrl: string): Promise<boolean> {
  const asking = fetch(adminUrl, { signal: AbortSignal.timeout(10_000) });
  return asking.then(
    ({ ok, status }) => ok || status === 401,
    () => false,
  );
}

function read<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
