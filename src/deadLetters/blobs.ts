import { atMost } from '../concurrency/waiting.ts';
import type { AccountAccess } from '../identity/access.ts';
import { beginningOf, ForeignFile } from '../storage/boundedReads.ts';
import { containerIn } from '../storage/containerIn.ts';
import { type CallLimits, createStorageCalls } from '../storage/storageCalls.ts';
import type { LetterInfo, LetterStorage } from './letterStorage.ts';

export interface BlobsOptions {
  /** With the key of the storage account, a shared access signature for the container, or an identity. */
  readonly account: AccountAccess;
  /** Created at the first use if it does not exist. */
  readonly container: string;
  /** `pageLetters`: most blobs in one page of a listing. */
  readonly limits?: CallLimits & { readonly verbMs: number; readonly pageLetters: number };
}

/** Less than the time limit for parking a dead letter. */
const defaultLimits = { attemptMs: 4_000, attempts: 3, pauseMs: 200, verbMs: 12_000, pageLetters: 5_000 };

/** Most requests at once; each has its own connection. */
const mostRequests = 32;

const suffix = '.json';

/** A container of Azure Blob Storage with a blob for each dead letter. Several instances can share it. */
export function createBlobs({ account, container, limits = defaultLimits }: BlobsOptions): LetterStorage {
  const blobs = containerIn(account, container);
  const { attempt, ensureContainer } = createStorageCalls(blobs, 'dead-letter storage', limits);
  const inTurn = atMost(mostRequests);
  const blobOf = (id: string) => blobs.client().getBlockBlobClient(`${id}${suffix}`);
  const deadline = () => performance.now() + limits.verbMs;

  /** @param from continuation token of the page before; undefined for the first page */
  const page = (prefix: string, from: string | undefined) =>
    attempt('listing', deadline(), async (abortSignal) => {
      const start = { maxPageSize: limits.pageLetters, ...(from && { continuationToken: from }) };
      const pages = blobs.client().listBlobsFlat({ prefix, abortSignal }).byPage(start);
      for await (const { segment, continuationToken } of pages) {
        const letters = segment.blobItems.filter(({ name }) => name.endsWith(suffix));
        const entries = letters.map(({ name, properties: { contentLength = 0, lastModified } }): LetterInfo => {
          return { id: name.slice(0, -suffix.length), bytes: contentLength, at: lastModified.getTime() };
        });
        return { entries, next: continuationToken || undefined };
      }
      return { entries: [], next: undefined };
    });

  return {
    async *entries(folder) {
      await ensureContainer(deadline());
      let from: string | undefined;
      do {
        const { entries, next } = await page(folder === undefined ? '' : `${folder}/`, from);
        yield* entries;
        from = next;
      } while (from !== undefined);
    },
    async read(id, mostBytes) {
      const bytes = await inTurn(() =>
        attempt(`reading ${id}`, deadline(), async (abortSignal) => {
          try {
            const { readableStreamBody } = await blobOf(id).download(0, undefined, { abortSignal });
            return readableStreamBody ? await beginningOf(readableStreamBody, mostBytes) : Buffer.alloc(0);
          } catch (error) {
            return unlessMissing(error);
          }
        }),
      );
      if (bytes && bytes.length > mostBytes)
        throw new ForeignFile(`the blob ${id}${suffix} has more than ${mostBytes} bytes`);
      return bytes?.toString();
    },
    async write(id, text) {
      const by = deadline();
      await inTurn(async () => {
        await ensureContainer(by);
        await attempt(`writing ${id}`, by, (abortSignal) =>
          blobOf(id).upload(text, Buffer.byteLength(text), {
            blobHTTPHeaders: { blobContentType: 'application/json' },
            abortSignal,
          }),
        );
      });
    },
    async remove(id) {
      await inTurn(() =>
        attempt(`deleting ${id}`, deadline(), (abortSignal) => blobOf(id).delete({ abortSignal }).catch(unlessMissing)),
      );
    },
  };
}

/**
 * Before the first letter, the container is missing, too.
 * @throws the error of a storage that has not answered 404
 */
function unlessMissing(error: unknown): undefined {
  if ((error as { statusCode?: number }).statusCode !== 404) throw error;
}
