import { randomUUID } from 'node:crypto';
import type { ContainerClient } from '@azure/storage-blob';
import { beginningOf } from '../../storage/boundedReads.ts';
import type { AccountClient } from '../../storage/containerIn.ts';
import { type CallLimits, createStorageCalls, isLease } from '../../storage/storageCalls.ts';

/** A blob without its content. */
export interface LabelledBlob {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Identifies this version of the blob. */
  readonly etag: string;
  /** Milliseconds since 1970, by the clock of the storage. */
  readonly modifiedAt: number;
}

export interface WholeBlob extends LabelledBlob {
  readonly content: string;
}

/** A write without `content` keeps the content of the blob. */
export interface BlobContent {
  readonly labels: Readonly<Record<string, string>>;
  readonly content?: string;
}

/**
 * The blobs of one container. Every verb ends before `by` (as `performance.now()`), with a few attempts of limited
 * length, and rejects with an error that contains the operation and the reason, but no request: that holds tokens (G5).
 */
export interface LabelledBlobs {
  list(prefix: string, by: number): Promise<LabelledBlob[]>;
  /** Labels and content of the same version. Undefined when there is no such blob. */
  read(name: string, by: number): Promise<WholeBlob | undefined>;
  /**
   * @param etag of the version to be replaced; undefined when the blob must not exist
   * @returns the new version, or undefined when the blob does not match `etag`
   */
  write(name: string, content: BlobContent, etag: string | undefined, by: number): Promise<LabelledBlob | undefined>;
  /** How far the clock of the storage is ahead of ours, in milliseconds; 0 when the difference is small. */
  clockAheadMs(): number;
}

/** The storage sends whole seconds, and its answer takes time to arrive. */
const clockNoiseMs = 1_500;

/** Longer content is cut: the service writes none. */
const maxContentBytes = 4 * 1024 * 1024;

/** The label by which a writer recognises its own write after a lost answer. */
const mark = 'mark';

export function createLabelledBlobs(container: AccountClient<ContainerClient>, limits: CallLimits): LabelledBlobs {
  const { attempt, ensureContainer } = createStorageCalls(container, 'checkpoint storage', limits);
  let aheadMs = 0;

  const observeServerTime = (date: Date | undefined) => {
    const measured = date ? date.getTime() - Date.now() : aheadMs;
    if (Math.abs(measured - aheadMs) > clockNoiseMs) aheadMs = measured;
  };

  async function readOnce(name: string, abortSignal: AbortSignal): Promise<WholeBlob | undefined> {
    try {
      const answer = await container.client().getBlobClient(name).download(0, undefined, { abortSignal });
      const { metadata: labels = {}, etag = '', lastModified, date, readableStreamBody } = answer;
      observeServerTime(date);
      const content = readableStreamBody && (await beginningOf(readableStreamBody, maxContentBytes));
      return { name, labels, etag, modifiedAt: lastModified?.getTime() ?? 0, content: content?.toString() ?? '' };
    } catch (error) {
      if ((error as { statusCode?: number }).statusCode !== 404) throw error;
      return undefined;
    }
  }

  async function writeOnce(
    name: string,
    { labels: metadata, content }: BlobContent,
    etag: string | undefined,
    abortSignal: AbortSignal,
  ) {
    const blob = container.client().getBlockBlobClient(name);
    const conditions = etag === undefined ? { ifNoneMatch: '*' } : { ifMatch: etag };
    const written =
      etag !== undefined && content === undefined
        ? await blob.setMetadata(metadata, { conditions, abortSignal })
        : await blob.upload(content ?? '', Buffer.byteLength(content ?? ''), { metadata, conditions, abortSignal });
    observeServerTime(written.date);
    return { name, labels: metadata, etag: written.etag ?? '', modifiedAt: written.lastModified?.getTime() ?? 0 };
  }

  return {
    async list(prefix, by) {
      await ensureContainer(by);
      return attempt('listing', by, async (abortSignal) => {
        const found: LabelledBlob[] = [];
        const pages = container.client().listBlobsFlat({ prefix, includeMetadata: true, abortSignal }).byPage();
        for await (const page of pages) {
          observeServerTime(page.date);
          for (const { name, metadata = {}, properties } of page.segment.blobItems) {
            found.push({
              name,
              labels: metadata,
              etag: `"${properties.etag.replaceAll('"', '')}"`, // listed bare, quoted everywhere else (fact storage.metadata)
              modifiedAt: properties.lastModified.getTime(),
            });
          }
        }
        return found;
      });
    },
    read: (name, by) => attempt(`reading ${name}`, by, (abortSignal) => readOnce(name, abortSignal)),
    async write(name, { labels, ...more }, etag, by) {
      const marked = { ...labels, [mark]: randomUUID() };
      let isRepeat = false;
      return attempt(`writing ${name}`, by, async (abortSignal) => {
        const maybeDone = isRepeat;
        isRepeat = true;
        try {
          return await writeOnce(name, { labels: marked, ...more }, etag, abortSignal);
        } catch (error) {
          if (!isConflict(error)) throw error;
          const current = maybeDone ? await readOnce(name, abortSignal) : undefined;
          return current?.labels[mark] === marked[mark] ? current : undefined;
        }
      });
    },
    clockAheadMs: () => aheadMs,
  };
}

/** The blob does not have the expected etag (facts storage.new, storage.version). */
function isConflict(error: unknown): boolean {
  const { statusCode, code } = error as { statusCode?: number; code?: string };
  return (statusCode === 412 && !isLease(code)) || code === 'BlobAlreadyExists' || code === 'BlobNotFound';
}
