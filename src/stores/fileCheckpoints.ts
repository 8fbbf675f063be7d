import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { lazy, singleFlight } from '../concurrency/waiting.ts';
import type { Checkpoint } from '../engine/progressTracker.ts';
import { jsonValue } from '../protocol/json.ts';
import { type CheckpointStore, isSequenceNumber, type Lease, progressOf } from './checkpointStore.ts';
import { makeFolder, makingAgain, readBounded, replaceFile } from './directories.ts';

// Checkpoints in this process's memory, and in one file.

interface Contents {
  readonly ownerships: readonly Lease[];
  readonly progress: readonly { readonly partition: string; readonly progress: Checkpoint }[];
}

/**
 * In this process's memory.
 * @param contents to begin with; the progress of a partition is checked when that partition is opened
 * @param keep saves the contents after a change of progress or owner; returns false when another process owns the file
 */
export function createMemoryStore(
  contents: Contents = { ownerships: [], progress: [] },
  keep: (contents: Contents) => Promise<boolean> = async () => true,
  where = (partition: string) => `of partition ${partition}`,
): CheckpointStore {
  const ownerships = new Map(contents.ownerships.map((one) => [one.partition, one]));
  const progress = new Map(contents.progress.map((one) => [one.partition, one.progress]));
  const all = (): Contents => ({
    ownerships: [...ownerships.values()],
    progress: Array.from(progress, ([partition, one]) => ({ partition, progress: one })),
  });

  return {
    ownerships: async () => [...ownerships.values()],
    async change(seen, next) {
      const current = ownerships.get(next.partition);
      if (current?.etag !== seen?.etag) return undefined;
      const record = { ...next, etag: randomUUID() };
      ownerships.set(next.partition, record);
      const isToBeSaved = current?.epoch !== next.epoch || current.begun !== next.begun;
      if (isToBeSaved && !(await keep(all()))) return undefined;
      return record;
    },
    async progress(partition) {
      const stored = progress.get(partition);
      return stored === undefined ? undefined : progressOf(stored, where(partition));
    },
    checkpoints: async () => [...progress.keys()].map((partition) => ({ partition, where: where(partition) })),
    async writeCheckpoint({ partition, owner, epoch }, next) {
      const record = ownerships.get(partition);
      if (record?.owner !== owner || record.epoch !== epoch) return false;
      const current = progress.get(partition);
      if (current && current.sequenceNumber > next.sequenceNumber) return true;
      progress.set(partition, next);
      return keep(all());
    },
  };
}

/*
 * {"format":1,"place":<namespace, hub and consumer group>,"keeper":<id of the process that writes the file>,
 *  "ownerships":[<record>],"progress":[{"partition":<id>,"progress":{"sequenceNumber","offset","completed","note"?}}]}
 *
 * `place` is missing in files of older versions.
 */

const format = 1;
/** For 128 partitions at their longest in a flood, with as much again. */
const mostBytes = 64 * 1024 * 1024;

/** A partition has no owner when a file is read: its only process has ended, and only the epoch is needed. */
const ownership = z
  .object({
    partition: z.string(),
    epoch: z.int().nonnegative().catch(0),
    begun: z.custom<number>(isSequenceNumber).optional().catch(undefined),
    renewedAt: z.number().catch(0),
    etag: z.string().catch(''),
    owner: z.literal('').catch(''),
    wantedBy: z.literal('').catch(''),
    wantedSince: z.literal(0).catch(0),
  })
  .transform(({ begun, ...record }) => (begun === undefined ? record : { ...record, begun }));

const isOnce = (records: readonly { readonly partition: string }[]): boolean =>
  new Set(records.map(({ partition }) => partition)).size === records.length;
const once = { error: 'names a partition twice' };

const fileFormat = z.object({
  format: z.literal(format),
  place: z.string().optional(),
  keeper: z.string().optional().catch(undefined),
  ownerships: z.array(ownership).refine(isOnce, once),
  progress: z
    .array(z.object({ partition: z.string(), progress: z.custom<Contents['progress'][number]['progress']>() }))
    .refine(isOnce, once),
});

/** @param place namespace, hub and consumer group */
export const checkpointPath = (directory: string, place: string): string =>
  join(directory, `${encodeURIComponent(place)}.json`);

/** @throws Error when there is a file and it is not a valid one of this place */
export function readCheckpointFile(path: string, place: string): Contents & { readonly keeper?: string | undefined } {
  const text = readBounded(path, mostBytes, (problem) => damaged(`${problem}: it is no checkpoint file`));
  if (text === undefined) return { ownerships: [], progress: [] };
  const { success, data, error } = fileFormat.safeParse(jsonValue(text));
  if (!success) {
    const { path: member = [], message = '' } = error.issues[0] ?? {};
    throw damaged(`${path} is no checkpoint file of format ${format}: ${member.join('.') || 'it'}: ${message}`);
  }
  const { place: of = place, keeper, ownerships, progress } = data;
  if (of !== place)
    throw damaged(`${path} is the checkpoint file of ${JSON.stringify(of)}, not of ${JSON.stringify(place)}`);
  return { keeper, ownerships, progress };
}

const damaged = (what: string) => new Error(`${what}; mend it, or move it away to start from the start position`);

/**
 * In one file, for one instance, replaced as a whole. The newest process owns it, from its first use on: one that fails to start must not
 * stop the one that runs. @param place namespace, hub and consumer group
 * @throws Error when the file exists and is not valid: to start without it would repeat every message
 */
export function createFileStore(directory: string, place: string): CheckpointStore {
  makeFolder(directory);
  const path = checkpointPath(directory, place);
  const keeper = randomUUID();
  const draft = `${path}.${keeper}.new`;
  /** Drafts, and the separate completion maps of older versions. */
  const isLeftOver = (name: string) => name.startsWith(`${basename(path)}.`) && /\.(new|map)$/.test(name);
  let latest: Contents | undefined;
  const read = () => readCheckpointFile(path, place);
  read();

  const replace = (contents: Contents) =>
    replaceFile(path, draft, JSON.stringify({ format, place, keeper, ...contents })).catch(makingAgain(directory));

  const isOurs = () => (read().keeper ?? keeper) === keeper;

  const replaceAll = singleFlight(async () => {
    while (latest !== undefined) {
      const contents = latest;
      latest = undefined;
      if (!isOurs()) return false;
      await replace(contents);
    }
    return true;
  });

  function keep(contents: Contents): Promise<boolean> {
    latest = contents;
    return replaceAll();
  }

  const store = lazy(async () => {
    const { keeper: _, ...contents } = read();
    await replace(contents);
    const left = (await readdir(directory)).filter(isLeftOver);
    await Promise.all(left.map((name) => rm(join(directory, name), { force: true })));
    return createMemoryStore(contents, keep, (partition) => `${path}, partition ${partition}`);
  });

  /** One look for all calls of a turn: a round renews each partition. */
  const storeOfOurs = singleFlight(async () => {
    const ours = await store();
    if (isOurs()) return ours;
    const remedy = 'when that one has gone, restart this one';
    throw new Error(`another process has taken ${path}, which serves one instance: ${remedy}`);
  });

  return {
    ownerships: async () => (await storeOfOurs()).ownerships(),
    change: async (seen, next) => (await storeOfOurs()).change(seen, next),
    progress: async (partition) => (await store()).progress(partition),
    checkpoints: async () => (await store()).checkpoints(),
    writeCheckpoint: async (reader, progress) => (await store()).writeCheckpoint(reader, progress),
  };
}
