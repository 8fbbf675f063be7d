import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import { type Finding, failure, ok, warning } from '@device-messaging/telemetry/check.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { invocationLimits, mebibyte, mostBodies } from '../settings/constants.ts';
import { unusableDirectories, usedDirectories } from '../stores/directories.ts';
import { memoryNeeded, methodsMemory, serviceMemory } from './memoryNeeded.ts';

/** What this machine, or the container, gives and the settings may come to need. */
export interface MachineLimits {
  /** Of the process, in bytes. */
  readonly memory: number;
  /** Most open files; undefined when the operating system does not say. */
  readonly files: number | undefined;
}

export function machineLimits(): MachineLimits {
  const path = '/proc/self/limits';
  const limits = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const [, files] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  return {
    memory: Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()),
    files: files === 'unlimited' ? Number.POSITIVE_INFINITY : Number(files) || undefined,
  };
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / mebibyte)} MB`;

/** The folders of the service: that it can use them, and that their disk has room for what the settings allow. */
export function checkDisk(settings: Pick<Settings, 'data' | 'store' | 'deadLetters'>): Finding[] {
  const what = 'disk';
  const problems = unusableDirectories(usedDirectories(settings));
  if (problems.length > 0)
    return problems.map((problem) => failure(what, problem, 'the service does not start without it'));
  if (settings.store.kind !== 'file') return [ok(what, 'nothing is written to a folder with STORE=blob')];
  const path = resolve(settings.data.directory);
  const { blocks, bavail, bsize } = statfsSync(path);
  if (blocks === 0) return [ok(what, `${path} can be written; its file system does not say how much room it has`)];
  const needed = settings.deadLetters.maxBytes;
  const found = `${path} can be written and has ${megabytes(bavail * bsize)} free`;
  if (bavail * bsize >= needed) return [ok(what, found)];
  const todo = `dead letters (DEAD_LETTERS_MAX_BYTES) may come to need ${megabytes(needed)}: take a larger volume`;
  return [warning(what, found, todo)];
}

/** Hub, storage, ports, log. */
const hubFiles = 256;

/** Memory and open files of the service against its limits. */
export function checkServiceLimits(
  settings: Pick<Settings, 'delivery' | 'backends' | 'replies'>,
  machine: MachineLimits,
): Finding[] {
  return [
    memoryFinding(memoryNeeded(serviceMemory, settings), machine, 'lower DELIVERY_MAX_BYTES'),
    filesFinding(3 * settings.backends.connections + hubFiles, machine),
  ];
}

/** The same of the front door. */
export function checkMethodsLimits(settings: Pick<MethodsSettings, 'backends'>, machine: MachineLimits): Finding[] {
  const sockets = mostBodies.inAll + 2 * invocationLimits.inFlight;
  return [
    memoryFinding(memoryNeeded(methodsMemory, settings), machine, orFewerConnections),
    filesFinding(2 * settings.backends.connections + sockets + hubFiles, machine),
  ];
}

const orFewerConnections = 'lower BACKENDS_CONNECTIONS';

function memoryFinding(needed: number, { memory }: MachineLimits, orElse: string): Finding {
  const found = `${megabytes(memory)}, of which it may come to need ${megabytes(needed)}`;
  const todo = `raise the limit of the container or the unit, or ${orElse}`;
  return memory < needed ? warning('memory', found, todo) : ok('memory', found);
}

function filesFinding(needed: number, { files }: MachineLimits): Finding {
  const what = 'open files';
  if (files === undefined) return ok(what, `the operating system does not say how many; up to ${needed} are used`);
  const most = files === Number.POSITIVE_INFINITY ? 'any number' : `up to ${files}`;
  const found = `${most}, of which it may come to need ${needed}`;
  const todo = `raise the limit (ulimit -n, LimitNOFILE), or ${orFewerConnections}`;
  return files < needed ? warning(what, found, todo) : ok(what, found);
}
