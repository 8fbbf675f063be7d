import { atMost } from '../concurrency/waiting.ts';
import type { ContainerAccess } from './account.ts';
import { type LetterStorage, mostLetterBytes, UnreadableDeadLetter } from './deadLetter.ts';
import { type BlobLimits, createLabelledBlobs } from './labelledBlobs.ts';

/** Less than the time limit for parking a dead letter. */
const defaultLimits = { attemptMs: 4_000, attempts: 3, pauseMs: 200, verbMs: 12_000 };

/** Most requests at once; each has its own connection. */
const mostRequests = 32;

const suffix = '.json';

/** A container of Azure Blob Storage with a blob for each dead letter. Several instances can share it. */
export function createBlobs({
  limits = defaultLimits,
  ...access
}: ContainerAccess & { readonly limits?: BlobLimits }): LetterStorage {
  const blobs = createLabelledBlobs(access, 'dead-letter storage', limits, suffix);
  const inTurn = atMost(mostRequests);

  return {
    async entries(folder) {
      const found = await blobs.list(folder === undefined ? '' : `${folder}/`);
      return found.map(({ name, bytes, modifiedAt }) => ({ id: name, bytes, at: modifiedAt }));
    },
    async read(id) {
      const { content } = (await inTurn(() => blobs.read(id, mostLetterBytes))) ?? {};
      if (content && content.length > mostLetterBytes)
        throw new UnreadableDeadLetter(`the blob ${id}${suffix} has more than ${mostLetterBytes} bytes`);
      return content?.toString();
    },
    write(id, text) {
      const by = blobs.deadline();
      return inTurn(() => blobs.put(id, text, by));
    },
    remove: (id) => inTurn(() => blobs.remove(id)),
  };
}
