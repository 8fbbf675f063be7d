import { setTimeout as sleep } from 'node:timers/promises';
import { BlobSASPermissions, BlobServiceClient, SASProtocol } from '@azure/storage-blob';
import { StorageError } from '../../storage/storageCalls.ts';

/** A file that a device can download. */
export interface SignedFile {
  /** With a signature for reading this file only. */
  readonly url: string;
  readonly bytes: number;
  readonly etag: string;
}

export type SignResult =
  | { readonly kind: 'file'; readonly file: SignedFile }
  | { readonly kind: 'missing' }
  | { readonly kind: 'too_large'; readonly bytes: number }
  /** The storage client would use another name. */
  | { readonly kind: 'changed_name' }
  | { readonly kind: 'unavailable'; readonly error: StorageError };

/** The container of files for methods (M9). */
export interface FileStorage {
  readonly maxBytes: number;
  /**
   * Signs a file that exists. Never rejects.
   * @param name valid (M9)
   * @param seconds until the signature expires
   */
  sign(name: string, seconds: number, signal: AbortSignal): Promise<SignResult>;
}

interface FileStorageOptions {
  readonly connectionString: string;
  readonly container: string;
  readonly maxBytes: number;
}

const attempts = 2;
const attemptMs = 4_000;
const pauseMs = 200;
const transient = [undefined, 408, 429, 500, 502, 503, 504];

interface ClientError {
  readonly statusCode?: number;
  readonly code?: string;
  readonly name?: string;
  /** Of a response without a body. */
  readonly details?: { readonly errorCode?: string };
}

const unavailable = (status: number | undefined, code = 'no code'): SignResult => ({
  kind: 'unavailable',
  error: new StorageError('looking up a file', status, code),
});

export function createFileStorage({ connectionString, container, maxBytes }: FileStorageOptions): FileStorage {
  const service = BlobServiceClient.fromConnectionString(connectionString, { retryOptions: { maxTries: 1 } });
  const containerClient = service.getContainerClient(container);
  const isPlain = new URL(service.url).protocol === 'http:'; // the settings allow it on this machine only
  const protocol = isPlain ? SASProtocol.HttpsAndHttp : SASProtocol.Https;

  async function propertiesOf(name: string, signal: AbortSignal) {
    const client = containerClient.getBlobClient(name);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
        return await client.getProperties({ abortSignal: limited });
      } catch (error) {
        const { statusCode } = error as ClientError;
        if (attempt >= attempts || signal.aborted || !transient.includes(statusCode)) throw error;
        await sleep(pauseMs);
      }
    }
  }

  return {
    maxBytes,
    async sign(name, seconds, signal) {
      const client = containerClient.getBlobClient(name);
      // The client resolves `..` segments.
      if (client.name !== name || client.containerName !== container) return { kind: 'changed_name' };
      try {
        const { contentLength, etag } = await propertiesOf(name, signal);
        if (contentLength === undefined || etag === undefined) return unavailable(undefined, 'no length or no etag');
        if (contentLength > maxBytes) return { kind: 'too_large', bytes: contentLength };
        const url = await client.generateSasUrl({
          permissions: BlobSASPermissions.parse('r'),
          expiresOn: new Date(Date.now() + seconds * 1000),
          protocol,
        });
        return { kind: 'file', file: { url, bytes: contentLength, etag } };
      } catch (error) {
        const { statusCode, code: named, name: kind, details } = error as ClientError;
        const code = named ?? details?.errorCode;
        if (statusCode === 404 && code !== 'ContainerNotFound') return { kind: 'missing' };
        return unavailable(statusCode, code ?? kind);
      }
    },
  };
}
