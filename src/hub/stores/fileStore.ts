import { mkdirSync, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type Contents, createMemoryStore } from './memoryStore.ts';
import type { Store } from './store.ts';

const format = 1;

/**
 * In one file, for one instance; replaced as a whole, so that a crash leaves the old or the new one.
 * @param place namespace, hub and consumer group: a file of another place is not read
 * @throws Error when the file exists and cannot be understood: starting over in silence would repeat everything
 */
export function createFileStore(directory: string, place: string): Store {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, `${encodeURIComponent(place)}.json`);
  const draft = `${path}.new`;
  let latest: Contents | undefined;
  let writing: Promise<void> | undefined;

  async function replace() {
    while (latest !== undefined) {
      const contents = latest;
      latest = undefined;
      const file = await open(draft, 'w', 0o600);
      try {
        await file.writeFile(JSON.stringify({ format, ...contents }));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, path);
    }
  }

  /** Writes that come while one is under way share the next one. */
  function keep(contents: Contents): Promise<void> {
    latest = contents;
    writing ??= replace().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  return createMemoryStore(read(path), keep);
}

function read(path: string): Contents {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ownerships: [], progress: [] };
    throw error;
  }
  const kept = parse(text);
  if (kept) return { ...kept, ownerships: kept.ownerships.map((one) => ({ ...one, owner: '', wantedBy: '' })) };
  throw new Error(`${path} is no checkpoint file of format ${format}; move it away to start from the start position`);
}

function parse(text: string): Contents | undefined {
  try {
    const kept: unknown = JSON.parse(text);
    const isOurs = typeof kept === 'object' && kept !== null && 'format' in kept && kept.format === format;
    return isOurs ? (kept as unknown as Contents) : undefined;
  } catch {
    return undefined;
  }
}
