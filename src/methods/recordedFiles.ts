import type { FileStorage } from '../hub/methods/fileStorage.ts';
import { type StoreLocation, storeFailureOf } from '../observing/diagnosis.ts';
import type { StoreRecords } from '../observing/storeRecords.ts';

/** A file storage whose calls are recorded. */
export const recordedFiles = (files: FileStorage, place: StoreLocation, records: StoreRecords): FileStorage => ({
  maxBytes: files.maxBytes,
  async sign(name, seconds, signal) {
    const ended = records.begin('files', 'read');
    const result = await files.sign(name, seconds, signal);
    ended(result.kind === 'unavailable' ? storeFailureOf(result.error, place)?.fault : undefined);
    return result;
  },
});
