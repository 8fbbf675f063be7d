import { statfsSync } from 'node:fs';
import { resolve } from 'node:path';
import { doubt, fault } from '@device-messaging/telemetry/check.ts';
import { maxAnswerBytes } from '../backends/backend.ts';
import { cacheEntries, entryBytes } from '../backends/cache.ts';
import { readingBytes, usualAnswerBytes } from '../backends/transport.ts';
import { maxReceivedBytes } from '../protocol/body.ts';
import { maxReplyBytes } from '../protocol/reply.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import {
  backlogLimits,
  invocationLimits,
  letterCounts,
  mebibyte,
  mostBodies,
  mostRepliesInFlight,
  reading,
} from '../settings/constants.ts';
import { unusableDirectories, usedDirectories } from '../stores/directories.ts';
import type { AnySettings, Probe } from './openers.ts';

/** A part of what a process may hold in memory; `most` is in words. */
export interface MemoryPart<S> {
  readonly what: string;
  readonly most: string;
  bytes(settings: S): number;
}

/** Of so many partitions at once the client has fetched nothing but the largest messages. */
const fullPartitions = 4;
const fetched = reading.prefetch + reading.batchSize;
const { maxLetters } = letterCounts;

const mebibytes = (bytes: number) => `${Math.round(bytes / mebibyte)} MiB`;
const kibibytes = (bytes: number) => `${bytes / 1024} KiB`;

const constant = (what: string, bytes: number, most = mebibytes(bytes)) => ({ what, most, bytes: () => bytes });

const ofProgram = 'the program, the clients of the hub and the storage, and what V8 keeps for garbage';
const program = (mostMebibytes: number) => constant(ofProgram, mostMebibytes * mebibyte);

const usualAnswers = (backends: number) => ({
  what: 'answers of backends while they are received and read, with what a socket has read ahead',
  most: `${backends} × \`BACKENDS_CONNECTIONS\` × 2 × ${kibibytes(usualAnswerBytes)}`,
  bytes: (settings: Pick<Settings, 'backends'>) => backends * settings.backends.connections * 2 * usualAnswerBytes,
});

const larger = constant(`larger ones, up to ${mebibytes(maxAnswerBytes)} each, which wait for this room`, readingBytes);

const cacheBytes = cacheEntries * entryBytes;
const caches = (count: number) =>
  constant('identities and types that are cached', count * cacheBytes, `${count} × ${mebibytes(cacheBytes)}`);

/** All that the service may hold: each is bounded, and their sum is what its container needs. */
export const serviceMemory: readonly MemoryPart<Pick<Settings, 'delivery' | 'backends' | 'replies'>>[] = [
  program(256),
  {
    what: 'messages in flight: their bodies, inflated, and what they keep of answers that is no more than 128 KiB',
    most: '`DELIVERY_MAX_BYTES`',
    bytes: ({ delivery }) => delivery.maxBytes,
  },
  {
    what: 'messages of which only replies are left, or that wait for a backend after they have begun',
    most: 'an eighth of `DELIVERY_MAX_BYTES`',
    bytes: ({ delivery }) => delivery.maxBytes / 8,
  },
  constant('messages that are read and wait to begin', backlogLimits.maxBytes),
  {
    what: 'messages whose replies wait for the full queues of their devices, or that wait to be recorded behind such a one (A12)',
    most: '`REPLIES_FULL_QUEUE_BYTES` × 2: small ones hold up to 16 KB, and are charged for 9',
    bytes: ({ replies }) => 2 * replies.fullQueueBytes,
  },
  {
    what: 'models that `Svc.Device.SyncModel` has fetched, until the hub has taken them',
    most: '`DELIVERY_MAX_BYTES`',
    bytes: ({ delivery }) => delivery.maxBytes,
  },
  {
    what: 'headers and replies of these messages',
    most: '`DELIVERY_MAX_MESSAGES` × 2 × 8 KiB',
    bytes: ({ delivery }) => delivery.maxMessages * 2 * 8 * 1024,
  },
  constant(
    'events that the client of the hub has fetched ahead',
    fullPartitions * fetched * maxReceivedBytes,
    `${fetched} of each partition, up to ${kibibytes(maxReceivedBytes)} each; counted for ${fullPartitions} partitions with such messages`,
  ),
  usualAnswers(3),
  larger,
  constant(
    'replies on their way to the hub, once as text and once as bytes',
    mostRepliesInFlight * 2 * maxReplyBytes,
    `${mostRepliesInFlight} × 2 × ${kibibytes(maxReplyBytes)}`,
  ),
  caches(2),
  constant('ids of dead letters', maxLetters * 128, `${maxLetters.toLocaleString('en')} × 128 bytes`),
];

/** The same of the front door. */
export const methodsMemory: readonly MemoryPart<Pick<MethodsSettings, 'backends'>>[] = [
  program(128),
  constant(
    'bodies of requests that are received, and those of invocations',
    (mostBodies.inAll + invocationLimits.inFlight) * 256 * 1024,
    `(${mostBodies.inAll} + ${invocationLimits.inFlight}) × 256 KiB`,
  ),
  usualAnswers(2),
  larger,
  caches(1),
];

export const memoryNeeded = <S>(parts: readonly MemoryPart<S>[], settings: S): number =>
  parts.reduce((sum, part) => sum + part.bytes(settings), 0);

const megabytes = (bytes: number) => `${Math.ceil(bytes / mebibyte)} MB`;

/** The folders of the service: that it can use them, and that their disk has room for what the settings allow. */
export const disk: Probe<Settings> = {
  name: 'disk',
  async attempt(_, settings) {
    const problems = unusableDirectories(usedDirectories(settings));
    if (problems.length > 0) return problems.map((one) => fault(one, 'the service does not start without it'));
    if (settings.store.kind !== 'file') return 'nothing is written to a folder with STORE=blob';
    const path = resolve(settings.data.directory);
    const { blocks, bavail, bsize } = statfsSync(path);
    if (blocks === 0) return `${path} can be written; its file system does not say how much room it has`;
    const needed = settings.deadLetters.maxBytes;
    const found = `${path} can be written and has ${megabytes(bavail * bsize)} free`;
    const todo = `dead letters (DEAD_LETTERS_MAX_BYTES) may come to need ${megabytes(needed)}: take a larger volume`;
    return bavail * bsize >= needed ? found : doubt(found, todo);
  },
};

export const orFewerConnections = 'lower BACKENDS_CONNECTIONS';

export const memory = <S>(parts: readonly MemoryPart<S>[], orElse: string): Probe<S> => ({
  name: 'memory',
  async attempt(open, settings) {
    const { memory } = open.machineLimits();
    const needed = memoryNeeded(parts, settings);
    const found = `${megabytes(memory)}, of which it may come to need ${megabytes(needed)}`;
    return memory >= needed ? found : doubt(found, `raise the limit of the container or the unit, or ${orElse}`);
  },
});

/** Hub, storage, ports, log. */
const hubFiles = 256;

/** @param others beside those of the backends and the hub */
export const openFiles = (backends: number, others: number): Probe<AnySettings> => ({
  name: 'open files',
  async attempt(open, settings) {
    const needed = backends * settings.backends.connections + others + hubFiles;
    const { files } = open.machineLimits();
    if (files === undefined) return `the operating system does not say how many; up to ${needed} are used`;
    const most = files === Number.POSITIVE_INFINITY ? 'any number' : `up to ${files}`;
    const found = `${most}, of which it may come to need ${needed}`;
    return files >= needed ? found : doubt(found, `raise the limit (ulimit -n, LimitNOFILE), or ${orFewerConnections}`);
  },
});
