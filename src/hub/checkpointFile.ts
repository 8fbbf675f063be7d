import { mkdirSync, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checkpoint } from '@azure/event-hubs';

/** The checkpoints of all partitions in one file, replaced as a whole so that a crash leaves the old or the new one. */
export interface CheckpointFile {
  /** @throws Error when the file exists and cannot be understood: starting over in silence would repeat everything. */
  read(): Checkpoint[];
  write(checkpoints: readonly Checkpoint[]): Promise<void>;
}

const format = 1;

export function createCheckpointFile(directory: string): CheckpointFile {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, 'checkpoints.json');
  const draft = `${path}.new`;
  let writing: Promise<void> = Promise.resolve();

  async function replace(checkpoints: readonly Checkpoint[]) {
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify({ format, checkpoints }));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  }

  return {
    read() {
      let text: string;
      try {
        text = readFileSync(path, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
      const kept = parse(text);
      if (kept === undefined) {
        throw new Error(
          `${path} is no checkpoint file of format ${format}; move it away to start from the start position`,
        );
      }
      return kept;
    },
    write(checkpoints) {
      const next = writing.then(() => replace(checkpoints));
      writing = next.catch(() => undefined);
      return next;
    },
  };
}

function parse(text: string): Checkpoint[] | undefined {
  try {
    const kept: unknown = JSON.parse(text);
    if (typeof kept !== 'object' || kept === null || !('format' in kept) || kept.format !== format) return undefined;
    return 'checkpoints' in kept && Array.isArray(kept.checkpoints) ? kept.checkpoints : undefined;
  } catch {
    return undefined;
  }
}
