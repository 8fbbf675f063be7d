import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Contents } from './memoryStore.ts';
import { writeWhole } from './writeWhole.ts';

type Entry = Contents['progress'][number];

/** A partition's progress as the file of all says it: a long map is in a file of its own. */
export interface KeptEntry extends Entry {
  /** Its name; the map that stands in the entry is empty then. */
  readonly mapFile?: string;
}

/**
 * Long completion maps, beside the file of all: that one is written anew at each checkpoint of any partition, a map
 * only when it has changed. No map file is ever changed; one that the file of all does not name is of no use.
 */
export interface MapFiles {
  /** Writes the long maps that are not on disk yet. */
  putAside(progress: readonly Entry[]): Promise<KeptEntry[]>;
  /** A map that is missing says of nothing that it is done. */
  fetch(kept: readonly KeptEntry[]): Promise<Entry[]>;
  /** Removes those that the file of all has ceased to name. */
  sweep(): Promise<void>;
  /** Whether a file of this name is left over from a process before. */
  isLeftOver(name: string): boolean;
}

const longestInside = 4_096;
const ending = '.map';

/** @param path of the file of all */
export function createMapFiles(path: string): MapFiles {
  /** By partition. */
  const aside = new Map<string, { readonly map: string; readonly name: string }>();
  const useless = new Set<string>();
  const pathOf = (name: string) => join(dirname(path), name);

  async function put({ partition, progress }: Entry): Promise<KeptEntry> {
    const { completed: map } = progress;
    const isLong = map.length > longestInside;
    const known = aside.get(partition);
    if (known?.map !== map) {
      if (known) useless.add(known.name);
      aside.delete(partition);
      if (isLong) aside.set(partition, { map, name: await writeNew(map) });
    }
    const { name } = aside.get(partition) ?? {};
    return name ? { partition, progress: { ...progress, completed: '' }, mapFile: name } : { partition, progress };
  }

  async function writeNew(map: string): Promise<string> {
    const name = `${basename(path)}.${randomUUID()}${ending}`;
    try {
      await writeWhole(pathOf(name), map);
    } catch (error) {
      await rm(pathOf(name), { force: true }); // a full disk must not be filled further by each attempt
      throw error;
    }
    return name;
  }

  async function mapIn(name: string): Promise<string> {
    try {
      return await readFile(pathOf(name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw error;
    }
  }

  return {
    putAside: (progress) => Promise.all(progress.map(put)),
    fetch: (kept) =>
      Promise.all(
        kept.map(async ({ partition, progress, mapFile }) => {
          if (mapFile === undefined) return { partition, progress };
          return { partition, progress: { ...progress, completed: await mapIn(mapFile) } };
        }),
      ),
    async sweep() {
      const names = [...useless];
      useless.clear();
      await Promise.all(names.map((name) => rm(pathOf(name), { force: true })));
    },
    isLeftOver(name) {
      const isMap = name.startsWith(`${basename(path)}.`) && name.endsWith(ending);
      return isMap && ![...aside.values()].some((one) => one.name === name);
    },
  };
}
