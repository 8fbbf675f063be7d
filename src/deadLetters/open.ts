import type { LogLines } from '../log/log.ts';
import type { Settings } from '../settings/config.ts';
import { connectionOf } from '../settings/derived.ts';
import { directoriesOf } from '../settings/directories.ts';
import { letterCounts } from '../settings/groups/constants.ts';
import { createDirectory } from './directory.ts';
import { createDeadLetters, type DeadLetters } from './store.ts';

const dayMs = 24 * 60 * 60_000;

/** The dead-letter store of the settings. It opens the store and loads the storage client (20 MB) at the first use. */
export function openDeadLetters(
  { data, store, deadLetters }: Pick<Settings, 'data' | 'store' | 'deadLetters'>,
  log: Pick<LogLines, 'warn'>,
): DeadLetters {
  const { container, maxBytes, retentionDays } = deadLetters;

  async function open() {
    if (store.kind !== 'blob') return createDirectory(directoriesOf(data).deadLetters);
    const { createBlobs } = await import('./blobs.ts');
    return createBlobs({ container, connectionString: connectionOf(deadLetters, store) });
  }
  const deviceBytes = (maxBytes * letterCounts.deviceLetters) / letterCounts.maxLetters; // D280
  const limits = { ...letterCounts, deviceBytes, maxBytes, retentionMs: retentionDays * dayMs };
  return createDeadLetters({ open, limits, log, now: Date.now });
}
