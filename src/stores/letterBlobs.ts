import { atMost } from '../concurrency/waiting.ts';
import { type ContainerAccess, containerIn } from './containerIn.ts';
import { type LetterStorage, mostLetterBytes } from './deadLetter.ts';
import { type BlobLimits, createLabelledBlobs } from './labelledBlobs.ts';
import { ForeignFile } from './textFiles.ts';

/** Less than the time limit for parking a dead letter. */
const defaultLimits = { attemptMs: 4_000, attempts: 3, pauseMs: 200, verbMs: 12_000 };

/** Most requests at once; each has its own connection. */
const mostRequests = 32;

const suffix = '.json';

/** A container of Azure Blob Storage with a blob for each dead letter. Several instances can share it. */
export function createBlobs({
  account,
  container,
  limits = defaultLimits,
}: ContainerAccess & { readonly limits?: BlobLimits }): LetterStorage {
  const blobs = createLabelledBlobs(containerIn(account, container), 'dead-letter storage', limits, suffix);
  const { deadline } = blobs;
  const inTurn = atMost(mostRequests);

  return {
    async entries(folder) {
      const found = await blobs.list(folder === undefined ? '' : `${folder}/`, deadline);
      return found.map(({ name, bytes, modifiedAt }) => ({ id: name, bytes, at: modifiedAt }));
    },
    async read(id) {
      const { content } = (await inTurn(() => blobs.read(id, mostLetterBytes, deadline()))) ?? {};
      if (content && content.length > mostLetterBytes)
        throw new ForeignFile(`the blob ${id}${suffix} has more than ${mostLetterBytes} bytes`);
      return content?.toString();
    },
    async write(id, text) {
      const by = deadline();
      await inTurn(() => blobs.put(id, text, by));
    },
    remove: (id) => inTurn(() => blobs.remove(id, deadline())),
  };
}
