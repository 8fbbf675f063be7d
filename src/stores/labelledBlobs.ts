import { randomUUID } from 'node:crypto';
import type { ContainerListBlobFlatSegmentResponse } from '@azure/storage-blob';
import { atMost } from '../concurrency/waiting.ts';
import { type CallLimits, type ContainerAccess, openContainer } from './account.ts';
import { type LetterStorage, mostLetterBytes, UnreadableDeadLetter } from './deadLetter.ts';

export interface LabelledBlob {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Identifies this version of the blob. */
  readonly etag: string;
  /** Milliseconds since 1970, by the clock of the storage. */
  readonly modifiedAt: number;
}

/** A write without `content` keeps the content of the blob. */
export type BlobContent = { readonly labels: LabelledBlob['labels']; readonly content?: string };

/** `verbMs`: that of a verb, and of each page of a listing. */
export type BlobLimits = CallLimits & { readonly verbMs: number };

/** The storage sends whole seconds, and its answer takes time to arrive. */
const clockNoiseMs = 1_500;
/** The label by which a writer recognises its own write after a lost answer. */
const mark = 'mark';

/**
 * The blobs of one container. Every verb ends before `by` (as `performance.now()`), with a few attempts, and rejects with a StorageError.
 * @param storage its name in errors
 * @param suffix of all blobs, and not of their names here
 */
export function createLabelledBlobs(access: ContainerAccess, storage: string, limits: BlobLimits, suffix = '') {
  const deadline = () => performance.now() + limits.verbMs;
  const { client, attempt, ensureContainer } = openContainer(access, storage, limits);
  const blobOf = (name: string) => client().getBlockBlobClient(`${name}${suffix}`);
  let aheadMs = 0;

  const observeServerTime = (date: Date | undefined) => {
    const measured = date ? date.getTime() - Date.now() : aheadMs;
    if (Math.abs(measured - aheadMs) > clockNoiseMs) aheadMs = measured;
  };

  async function readOnce(name: string, mostBytes: number, abortSignal: AbortSignal) {
    try {
      const answer = await blobOf(name).download(0, undefined, { abortSignal });
      const { metadata: labels = {}, etag = '', lastModified, date, readableStreamBody } = answer;
      observeServerTime(date);
      const content = readableStreamBody ? await beginningOf(readableStreamBody, mostBytes) : Buffer.alloc(0);
      return { name, labels, etag, modifiedAt: lastModified?.getTime() ?? 0, content };
    } catch (error) {
      return unlessMissing(error);
    }
  }

  return {
    async list(prefix: string) {
      await ensureContainer(deadline());
      const found: (LabelledBlob & { readonly bytes: number })[] = [];
      let from: string | undefined;
      do {
        const start = from === undefined ? {} : { continuationToken: from };
        const page: ContainerListBlobFlatSegmentResponse = await attempt('listing', deadline(), async (abortSignal) => {
          const listing = client().listBlobsFlat({ prefix, includeMetadata: true, abortSignal });
          return (await listing.byPage(start).next()).value;
        });
        observeServerTime(page.date);
        for (const { name, metadata: labels = {}, properties } of page.segment.blobItems) {
          if (!name.endsWith(suffix)) continue;
          found.push({
            ...{ name: name.slice(0, name.length - suffix.length), labels },
            etag: `"${properties.etag.replaceAll('"', '')}"`, // listed bare, quoted everywhere else (fact storage.metadata)
            modifiedAt: properties.lastModified.getTime(),
            bytes: properties.contentLength ?? 0,
          });
        }
        from = page.continuationToken || undefined; // empty after the last page
      } while (from);
      return found;
    },
    /** Labels and content of the same version; undefined when there is none. Reading stops beyond `mostBytes`: the result is longer, too. */
    read: (name: string, mostBytes: number, by = deadline()) =>
      attempt(`reading ${name}`, by, (abortSignal) => readOnce(name, mostBytes, abortSignal)),
    /** @param etag of the version to be replaced; undefined when the blob must not exist. @returns undefined when it has another */
    async change(name: string, { labels, content }: BlobContent, etag: string | undefined, by: number) {
      const metadata = { ...labels, [mark]: randomUUID() };
      const conditions = etag === undefined ? { ifNoneMatch: '*' } : { ifMatch: etag };
      let isRepeat = false;
      return attempt(`writing ${name}`, by, async (abortSignal) => {
        const maybeDone = isRepeat;
        isRepeat = true;
        const [blob, options] = [blobOf(name), { conditions, abortSignal }];
        try {
          const written =
            etag !== undefined && content === undefined
              ? await blob.setMetadata(metadata, options)
              : await blob.upload(content ?? '', Buffer.byteLength(content ?? ''), { metadata, ...options });
          observeServerTime(written.date);
          return { name, labels: metadata, etag: written.etag ?? '', modifiedAt: written.lastModified?.getTime() ?? 0 };
        } catch (error) {
          if (!isConflict(error)) throw error;
          const current = maybeDone ? await readOnce(name, 0, abortSignal) : undefined;
          return current?.labels[mark] === metadata[mark] ? current : undefined;
        }
      });
    },
    /** Writes a JSON text, or replaces a blob by it. */
    async put(name: string, text: string, by: number): Promise<void> {
      await ensureContainer(by);
      const blobHTTPHeaders = { blobContentType: 'application/json' };
      await attempt(`writing ${name}`, by, (abortSignal) =>
        blobOf(name).upload(text, Buffer.byteLength(text), { blobHTTPHeaders, abortSignal }),
      );
    },
    /** No error when it does not exist. */
    async remove(name: string): Promise<void> {
      await attempt(`deleting ${name}`, deadline(), (abortSignal) =>
        blobOf(name).delete({ abortSignal }).catch(unlessMissing),
      );
    },
    deadline,
    /** How far the clock of the storage is ahead of ours, in milliseconds; 0 when the difference is small. */
    clockAheadMs: () => aheadMs,
  };
}

async function beginningOf(stream: NodeJS.ReadableStream, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes > mostBytes) break;
  }
  return Buffer.concat(chunks);
}

/** Before the first blob, the container is missing, too. @throws the error of a storage that has not answered 404 */
function unlessMissing(error: unknown): undefined {
  if ((error as { statusCode?: number }).statusCode !== 404) throw error;
}

/** The blob does not have the expected etag (facts storage.new, storage.version). */
function isConflict(error: unknown): boolean {
  const { statusCode, code } = error as { statusCode?: number; code?: string };
  // Somebody may hold a lease on the blob, without which the account changes nothing: then no other writer was faster.
  return (statusCode === 412 && !code?.startsWith('Lease')) || code === 'BlobAlreadyExists' || code === 'BlobNotFound';
}

/** Less than the time limit for parking a dead letter. */
const defaultLimits = { attemptMs: 4_000, attempts: 3, pauseMs: 200, verbMs: 12_000 };

/** Most requests at once; each has its own connection. */
const mostRequests = 32;

/** A container of Azure Blob Storage with a blob for each dead letter. Several instances can share it. */
export function createBlobs({
  limits = defaultLimits,
  ...access
}: ContainerAccess & { readonly limits?: BlobLimits }): LetterStorage {
  const blobs = createLabelledBlobs(access, 'dead-letter storage', limits, '.json');
  const inTurn = atMost(mostRequests);

  return {
    async entries(folder) {
      const found = await blobs.list(folder === undefined ? '' : `${folder}/`);
      return found.map(({ name, bytes, modifiedAt }) => ({ id: name, bytes, at: modifiedAt }));
    },
    async read(id) {
      const { content } = (await inTurn(() => blobs.read(id, mostLetterBytes))) ?? {};
      if (content && content.length > mostLetterBytes)
        throw new UnreadableDeadLetter(`the blob ${id}.json has more than ${mostLetterBytes} bytes`);
      return content?.toString();
    },
    write(id, text) {
      const by = blobs.deadline();
      return inTurn(() => blobs.put(id, text, by));
    },
    remove: (id) => inTurn(() => blobs.remove(id)),
  };
}
