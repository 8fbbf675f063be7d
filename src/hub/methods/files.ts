import { setTimeout as sleep } from 'node:timers/promises';
import { BlobSASPermissions, BlobServiceClient, SASProtocol } from '@azure/storage-blob';

/** A file as a device fetches it. */
export interface SignedFile {
  /** A signature for this file alone, to read. */
  readonly url: string;
  readonly bytes: number;
  readonly etag: string;
}

export type FileAnswer =
  | { readonly kind: 'file'; readonly file: SignedFile }
  | { readonly kind: 'missing' }
  | { readonly kind: 'too_large'; readonly bytes: number }
  /** The storage client would have asked for something else. */
  | { readonly kind: 'elsewhere' }
  /** It does not answer, or refuses us: `cause` has its status and code, and nothing of the request. */
  | { readonly kind: 'out'; readonly cause: string };

/** Files that methods take (M9). */
export interface Files {
  readonly maxBytes: number;
  /**
   * A signature for a file that is there. Never rejects.
   * @param name that has been checked
   * @param seconds how long the signature is good
   */
  sign(name: string, seconds: number, signal: AbortSignal): Promise<FileAnswer>;
}

interface FileSettings {
  readonly connectionString: string;
  readonly container: string;
  readonly maxBytes: number;
}

const attempts = 2;
const attemptMs = 4_000;
const pauseMs = 200;
const transient = [undefined, 408, 429, 500, 502, 503, 504];

interface StorageError {
  readonly statusCode?: number;
  readonly code?: string;
  readonly name?: string;
  /** Of an answer without a body, as to a HEAD. */
  readonly details?: { readonly errorCode?: string };
}

export function createFiles({ connectionString, container, maxBytes }: FileSettings): Files {
  const service = BlobServiceClient.fromConnectionString(connectionString, { retryOptions: { maxTries: 1 } });
  const containerClient = service.getContainerClient(container);
  const isPlain = new URL(service.url).protocol === 'http:'; // only on this machine
  const protocol = isPlain ? SASProtocol.HttpsAndHttp : SASProtocol.Https;

  async function propertiesOf(name: string, signal: AbortSignal) {
    const client = containerClient.getBlobClient(name);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
        return await client.getProperties({ abortSignal: limited });
      } catch (error) {
        const { statusCode } = error as StorageError;
        if (attempt >= attempts || signal.aborted || !transient.includes(statusCode)) throw error;
        await sleep(pauseMs);
      }
    }
  }

  return {
    maxBytes,
    async sign(name, seconds, signal) {
      const client = containerClient.getBlobClient(name);
      // It resolves `..`, and may do more one day.
      if (client.name !== name || client.containerName !== container) return { kind: 'elsewhere' };
      try {
        const { contentLength, etag } = await propertiesOf(name, signal);
        if (contentLength === undefined || etag === undefined) return { kind: 'out', cause: 'no length or no etag' };
        if (contentLength > maxBytes) return { kind: 'too_large', bytes: contentLength };
        const url = await client.generateSasUrl({
          permissions: BlobSASPermissions.parse('r'),
          expiresOn: new Date(Date.now() + seconds * 1000),
          protocol,
        });
        return { kind: 'file', file: { url, bytes: contentLength, etag } };
      } catch (error) {
        const { statusCode, code: named, name: kind, details } = error as StorageError;
        const code = named ?? details?.errorCode;
        if (statusCode === 404 && code !== 'ContainerNotFound') return { kind: 'missing' };
        return { kind: 'out', cause: [statusCode, code ?? kind].join(' ').trim() };
      }
    },
  };
}
