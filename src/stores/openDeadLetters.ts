import { type Access, accessOf } from '../access/access.ts';
import { createStoreRecords } from '../observing/callRecords.ts';
import type { LogLines } from '../observing/log.ts';
import { noMeter } from '../observing/metrics.ts';
import type { Settings } from '../settings/config.ts';
import { letterCounts } from '../settings/constants.ts';
import { placeOf } from '../settings/derived.ts';
import { createDeadLetters, type DeadLetters } from './deadLetterStore.ts';
import { directoriesOf } from './directories.ts';
import { createDirectory } from './letterFiles.ts';
import { recorded } from './recorded.ts';

const verbs = { entries: 'list', read: 'read', write: 'write', remove: 'delete' } as const;

const dayMs = 24 * 60 * 60_000;

/** The dead-letter store of the settings. It opens the store and loads the storage client (20 MB) at the first use. */
export function openDeadLetters(
  settings: Pick<Settings, 'identity' | 'hub' | 'backends' | 'data' | 'store' | 'deadLetters'>,
  log: Pick<LogLines, 'warn'>,
  records = createStoreRecords(noMeter),
  access: Pick<Access, 'account'> = accessOf(settings),
): DeadLetters {
  const { data, store, deadLetters } = settings;
  const place = placeOf(deadLetters, store, 'DEAD_LETTERS');
  const { container, maxBytes, retentionDays } = deadLetters;

  async function openPlain() {
    if (store.kind !== 'blob') return createDirectory(directoriesOf(data).deadLetters);
    const { createBlobs } = await import('./letterBlobs.ts');
    return createBlobs({ container, account: access.account('deadLetters') });
  }
  const open = async () => recorded(await openPlain(), verbs, 'deadLetters', place, records);
  const deviceBytes = (maxBytes * letterCounts.deviceLetters) / letterCounts.maxLetters; // D280
  const limits = { ...letterCounts, deviceBytes, maxBytes, retentionMs: retentionDays * dayMs };
  return createDeadLetters({ open, limits, log, now: Date.now });
}
