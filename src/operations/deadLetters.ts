import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Generation, HubEvent, Origin } from '../protocol/event.ts';
import { textProperties } from '../protocol/properties.ts';

/** A message that failed through our side, with all that is needed to handle it again (G4). */
export interface Letter {
  readonly deviceId: string;
  readonly generation: Generation;
  readonly origin: Origin;
  readonly event: HubEvent;
  readonly code: string;
  readonly details: string;
  readonly parkedAt: Date;
  /** How often it has been parked. */
  readonly attempts: number;
  /** Of the trace of the last attempt. */
  readonly traceparent: string;
}

/** A letter and where it lies. */
export interface Filed {
  readonly id: string;
  readonly letter: Letter;
}

/** The dead-letter store: one file a letter, readable by its owner alone. */
export interface DeadLetters {
  /** Parks a letter; the oldest of the device make room for it. Rejects when it cannot be written. */
  park(letter: Letter): Promise<void>;
  /** All letters, each device's in hub order. */
  list(): Promise<Filed[]>;
  remove(id: string): Promise<void>;
}

export interface DeadLetterLimits {
  /** Most letters of one device, and of all. */
  readonly deviceLetters: number;
  readonly maxLetters: number;
  /** Letters that are older are deleted. */
  readonly retentionMs: number;
}

const format = 1;

/** In a folder for each device, whose names are hashes: a device id may be any string. */
export function createDeadLetters(directory: string, limits: DeadLetterLimits, now: () => number): DeadLetters {
  const folderOf = (deviceId: string) => createHash('sha256').update(deviceId).digest('hex').slice(0, 32);

  async function idsIn(folder: string): Promise<string[]> {
    const names = await readdir(join(directory, folder)).catch(ignoreMissing);
    return names
      .filter((name) => name.endsWith('.json'))
      .map((name) => `${folder}/${name.slice(0, -5)}`)
      .sort();
  }

  async function allIds(): Promise<string[]> {
    const folders = await readdir(directory).catch(ignoreMissing);
    return (await Promise.all(folders.map(idsIn))).flat();
  }

  const pathOf = (id: string) => join(directory, `${id}.json`);
  const remove = (id: string) => rm(pathOf(id), { force: true });

  async function deleteOutdated(ids: readonly string[]): Promise<string[]> {
    const kept: string[] = [];
    for (const id of ids) {
      const { mtimeMs } = await stat(pathOf(id)).catch(() => ({ mtimeMs: 0 }));
      if (now() - mtimeMs > limits.retentionMs) await remove(id);
      else kept.push(id);
    }
    return kept;
  }

  return {
    async park(letter) {
      const folder = folderOf(letter.deviceId);
      await mkdir(join(directory, folder), { recursive: true, mode: 0o700 });
      const own = (await deleteOutdated(await idsIn(folder))).slice(
        0,
        -Math.max(limits.deviceLetters - 1, 0) || undefined,
      );
      const all = await allIds();
      const excess = all.length - own.length >= limits.maxLetters ? (await oldestOf(all)).slice(0, 1) : [];
      await Promise.all([...own, ...excess].map(remove));

      const id = `${folder}/${fileNameOf(letter)}`;
      const draft = `${pathOf(id)}.${randomUUID()}`;
      await writeFile(draft, print(letter), { mode: 0o600, flush: true });
      await rename(draft, pathOf(id));
    },
    async list() {
      const ids = await deleteOutdated(await allIds());
      const letters = await Promise.all(
        ids.map(async (id) => ({ id, letter: parse(await readFile(pathOf(id), 'utf8')) })),
      );
      return letters.flatMap(({ id, letter }) => (letter ? [{ id, letter }] : []));
    },
    remove,
  };

  async function oldestOf(ids: readonly string[]): Promise<string[]> {
    const dated = await Promise.all(
      ids.map(async (id) => ({ id, at: (await stat(pathOf(id)).catch(() => ({ mtimeMs: 0 }))).mtimeMs })),
    );
    return dated.sort((a, b) => a.at - b.at).map(({ id }) => id);
  }
}

/** The names of a device's letters sort in the order of the hub. */
const fileNameOf = ({ event, origin }: Letter): string =>
  `${String(event.enqueuedTimeUtc.getTime()).padStart(15, '0')}-${origin.partition}-${String(event.sequenceNumber).padStart(16, '0')}`;

function print({ event, parkedAt, ...letter }: Letter): string {
  const { body, properties, systemProperties, sequenceNumber, offset, enqueuedTimeUtc } = event;
  const bytes = body instanceof Uint8Array ? Buffer.from(body).toString('base64') : undefined;
  return JSON.stringify({
    format,
    ...letter,
    parkedAt: parkedAt.toISOString(),
    event: {
      properties: textProperties(properties ?? {}),
      systemProperties: textProperties(systemProperties ?? {}),
      sequenceNumber,
      offset,
      enqueuedTimeUtc: enqueuedTimeUtc.toISOString(),
      body: bytes ?? body,
      isText: bytes === undefined,
    },
  });
}

function parse(text: string): Letter | undefined {
  const { format: written, parkedAt, event, ...letter } = JSON.parse(text);
  if (written !== format) return undefined;
  const { body, isText, enqueuedTimeUtc, ...rest } = event;
  return {
    ...letter,
    parkedAt: new Date(parkedAt),
    event: { ...rest, body: isText ? body : Buffer.from(body, 'base64'), enqueuedTimeUtc: new Date(enqueuedTimeUtc) },
  };
}

function ignoreMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
  throw error;
}
