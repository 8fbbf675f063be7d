import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Contents, createMemoryStore } from './memoryStore.ts';
import type { Store } from './store.ts';
import { writeWhole } from './writeWhole.ts';

const format = 1;

/** What the file says. */
interface Kept {
  /** The process that writes it. */
  readonly keeper?: string;
  readonly ownerships: Contents['ownerships'];
  readonly progress: Contents['progress'];
}

/**
 * In one file, for one instance; replaced as a whole, so that a crash leaves the old or the new one. The process that
 * came last keeps the file: one before it writes nothing any more. The file is taken at the first use, so that a
 * process which fails to start takes nothing from anybody.
 * @param place namespace, hub and consumer group: a file of another place is not read
 * @throws Error when the file exists and cannot be understood: starting over in silence would repeat everything
 */
export function createFileStore(directory: string, place: string): Store {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, `${encodeURIComponent(place)}.json`);
  const keeper = randomUUID();
  const draft = `${path}.${keeper}.new`;
  /** Drafts, and the maps that older versions wrote into files of their own. */
  const isLeftOver = (name: string) => name.startsWith(`${basename(path)}.`) && /\.(new|map)$/.test(name);
  let latest: Contents | undefined;
  let writing: Promise<boolean> | undefined;
  let taken: Promise<Store> | undefined;
  read(path);

  async function replace({ ownerships, progress }: Contents) {
    await writeWhole(draft, JSON.stringify({ format, keeper, ownerships, progress }));
    await rename(draft, path);
  }

  const isOurs = () => (read(path).keeper ?? keeper) === keeper;

  async function replaceAll() {
    while (latest !== undefined) {
      const contents = latest;
      latest = undefined;
      if (!isOurs()) return false;
      await replace(contents);
    }
    return true;
  }

  /** Writes that come while one is under way share the next one. */
  function keep(contents: Contents): Promise<boolean> {
    latest = contents;
    writing ??= replaceAll().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  async function removeLeftOvers() {
    const left = (await readdir(directory)).filter(isLeftOver);
    await Promise.all(left.map((name) => rm(join(directory, name), { force: true })));
  }

  async function take(): Promise<Store> {
    const { ownerships, progress } = read(path);
    const contents = { ownerships: ownerships.map((one) => ({ ...one, owner: '', wantedBy: '' })), progress };
    await replace(contents);
    await removeLeftOvers();
    return createMemoryStore(contents, keep);
  }

  const store = () => {
    taken ??= take().catch((error) => {
      taken = undefined;
      throw error;
    });
    return taken;
  };

  async function storeOfOurs() {
    const ours = await store();
    if (!isOurs()) throw new Error(`${path} is kept by another process since: one instance only with a file`);
    return ours;
  }

  return {
    ownerships: async () => (await storeOfOurs()).ownerships(),
    change: async (seen, next) => (await storeOfOurs()).change(seen, next),
    progress: async (partition) => (await store()).progress(partition),
    writeProgress: async (reader, progress) => (await store()).writeProgress(reader, progress),
  };
}

function read(path: string): Kept {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ownerships: [], progress: [] };
    throw error;
  }
  const kept = parse(text);
  if (kept) return kept;
  throw new Error(`${path} is no checkpoint file of format ${format}; move it away to start from the start position`);
}

function parse(text: string): Kept | undefined {
  try {
    const kept: unknown = JSON.parse(text);
    const isOurs = typeof kept === 'object' && kept !== null && 'format' in kept && kept.format === format;
    return isOurs ? (kept as unknown as Kept) : undefined;
  } catch {
    return undefined;
  }
}
