import {
  type BlobClient,
  BlobSASPermissions,
  BlobServiceClient,
  generateBlobSASQueryParameters,
  SASProtocol,
  type UserDelegationKey,
} from '@azure/storage-blob';
import type { AccountAccess } from '../../identity/access.ts';
import { isSecret } from '../../identity/secretFiles.ts';
import { accountClient, clientOptions } from '../../storage/containerIn.ts';
import { isRefusal, StorageError, sleep } from '../../storage/storageCalls.ts';

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
  /** With the account's key, or an identity. */
  readonly account: AccountAccess;
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

export function createFileStorage({ account, container, maxBytes }: FileStorageOptions): FileStorage {
  const { client: serviceNow, attempt: beginAttempt } = accountClient(account, (now) =>
    typeof now === 'string'
      ? BlobServiceClient.fromConnectionString(now, clientOptions())
      : new BlobServiceClient(now.url.replace(/\/+$/, ''), now.credential, clientOptions()),
  );
  const keys = isSecret(account) ? undefined : delegationKeys(serviceNow());
  const clientOf = (name: string) => serviceNow().getContainerClient(container).getBlobClient(name);
  const isPlain = new URL(serviceNow().url).protocol === 'http:'; // the settings allow it on this machine only
  const protocol = isPlain ? SASProtocol.HttpsAndHttp : SASProtocol.Https;

  async function propertiesOf(name: string, signal: AbortSignal) {
    for (let attempt = 1; ; attempt += 1) {
      const hasOtherKey = beginAttempt();
      try {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
        return await clientOf(name).getProperties({ abortSignal: limited });
      } catch (error) {
        const { statusCode } = error as ClientError;
        if (isRefusal(statusCode) && !signal.aborted && (await hasOtherKey())) continue;
        if (attempt >= attempts || signal.aborted || !transient.includes(statusCode)) throw error;
        await sleep(pauseMs);
      }
    }
  }

  return {
    maxBytes,
    async sign(name, seconds, signal) {
      const named = clientOf(name);
      // The client resolves `..` segments.
      if (named.name !== name || named.containerName !== container) return { kind: 'changed_name' };
      try {
        const { contentLength, etag } = await propertiesOf(name, signal);
        const client = clientOf(name); // with the key that the account has accepted
        if (contentLength === undefined || etag === undefined) return unavailable(undefined, 'no length or no etag');
        if (contentLength > maxBytes) return { kind: 'too_large', bytes: contentLength };
        const expiresOn = new Date(Date.now() + seconds * 1000);
        const signature = { permissions: BlobSASPermissions.parse('r'), expiresOn, protocol };
        const key = await keys?.(expiresOn, signal);
        const url = key === undefined ? await client.generateSasUrl(signature) : signedByKey(client, signature, key);
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

/** The storage allows a week. A key is asked for early enough that no signature outlives it. */
const keyMs = 6 * 60 * 60_000;

/** With an identity the account signs no file itself: it lends a key, which signs what the identity may read (D368). */
function delegationKeys(service: BlobServiceClient) {
  let known: { readonly key: UserDelegationKey; readonly until: Date } | undefined;
  return async (expiresOn: Date, signal: AbortSignal): Promise<UserDelegationKey> => {
    if (known !== undefined && known.until >= expiresOn) return known.key;
    const from = new Date(Date.now() - clockNoiseMs);
    const until = new Date(expiresOn.getTime() + keyMs);
    const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
    const key = await service.getUserDelegationKey(from, until, { abortSignal });
    known = { key, until };
    return key;
  };
}

/** A form of signatures by such keys that accounts have known for years; the client's own is not known everywhere. */
const version = '2020-12-06';

/** The clock of the storage may be behind ours. */
const clockNoiseMs = 5 * 60_000;

interface Signature {
  readonly permissions: BlobSASPermissions;
  readonly expiresOn: Date;
  readonly protocol: SASProtocol;
}

function signedByKey(client: BlobClient, signature: Signature, key: UserDelegationKey): string {
  const { containerName, name: blobName, accountName } = client;
  const query = generateBlobSASQueryParameters({ containerName, blobName, version, ...signature }, key, accountName);
  return `${client.url}?${query}`;
}
