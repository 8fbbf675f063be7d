import { join } from 'node:path';
import { z } from 'zod';
import { ForeignFile, readBounded } from '../../storage/boundedReads.ts';
import { isBegun } from './checkpointStore.ts';
import type { Contents } from './memoryStore.ts';

/*
 * {"format":1,"place":<namespace, hub and consumer group>,"keeper":<id of the process that writes the file>,
 *  "ownerships":[<record>],"progress":[{"partition":<id>,"progress":{"sequenceNumber","offset","completed","note"?}}]}
 *
 * `place` is missing in files of older versions. The progress of a partition is checked when that partition is opened.
 */

const format = 1;

/** For 128 partitions at their longest in a flood, with as much again. */
const mostBytes = 64 * 1024 * 1024;

export interface CheckpointFile extends Contents {
  readonly keeper?: string | undefined;
}

/** A partition has no owner when a file is read: its only process has ended, and only the epoch is needed. */
const ownership = z
  .object({
    partition: z.string(),
    epoch: z.int().nonnegative().catch(0),
    begun: z.custom<number>(isBegun).optional().catch(undefined),
    renewedAt: z.number().catch(0),
    etag: z.string().catch(''),
  })
  .transform(({ begun, ...record }) => ({
    ...record,
    owner: '',
    wantedBy: '',
    wantedSince: 0,
    ...(begun !== undefined && { begun }),
  }));

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

export const checkpointFile = (content: CheckpointFile & { readonly place: string }): string =>
  JSON.stringify({ format, ...content });

/** @param place namespace, hub and consumer group */
export const checkpointPath = (directory: string, place: string): string =>
  join(directory, `${encodeURIComponent(place)}.json`);

/** @throws Error when there is a file and it is not a valid one of this place */
export function readCheckpointFile(path: string, place: string): CheckpointFile {
  const text = textOf(path);
  if (text === undefined) return { ownerships: [], progress: [] };
  const { success, data, error } = fileFormat.safeParse(jsonOf(text));
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

function textOf(path: string): string | undefined {
  try {
    return readBounded(path, mostBytes);
  } catch (error) {
    if (error instanceof ForeignFile) throw damaged(`${error.message}: it is no checkpoint file`);
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
