import {
  BlobSASPermissions,
  BlobServiceClient,
  generateBlobSASQueryParameters,
  SASProtocol,
  type UserDelegationKey,
} from '@azure/storage-blob';
import { isSecret, type Secret } from '../access/secretFiles.ts';
import { answerOf, type ContainerAccess, clientOptions, openContainer, StorageError } from './account.ts';

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

export type FileStorage = ReturnType<typeof createFileStorage>;

/** A form of signatures by delegated keys that accounts have known for years; the client's own is not known everywhere. */
const version = '2020-12-06';
/** The storage allows a week. A delegated key is asked for early enough that no signature outlives it. */
const keyMs = 6 * 60 * 60_000;
/** The clock of the storage may be behind ours. */
const clockNoiseMs = 5 * 60_000;

const limits = { attemptMs: 4_000, attempts: 2, pauseMs: 200 };

const unavailable = (status: number | undefined, code: string): SignResult => ({
  kind: 'unavailable',
  error: new StorageError('looking up a file', status, code),
});

/** The container of files for methods (M9). */
export function createFileStorage({ maxBytes, ...access }: ContainerAccess & { readonly maxBytes: number }) {
  const { account, container } = access;
  const { client: containerClient, attempt } = openContainer(access, 'file storage', limits);
  const keys = isSecret(account) ? undefined : delegationKeys(account);
  const clientOf = (name: string) => containerClient().getBlobClient(name);
  const isPlain = new URL(containerClient().url).protocol === 'http:'; // the settings allow it on this machine only
  const protocol = isPlain ? SASProtocol.HttpsAndHttp : SASProtocol.Https;

  /** @throws StorageError, or the error of the client */
  async function found(name: string, seconds: number, signal: AbortSignal): Promise<SignResult> {
    const look = (abortSignal: AbortSignal) => clientOf(name).getProperties({ abortSignal });
    const { contentLength, etag } = await attempt('looking up a file', Number.POSITIVE_INFINITY, look, signal);
    const client = clientOf(name); // with the key that the account has accepted
    if (contentLength === undefined || etag === undefined) return unavailable(undefined, 'no length or no etag');
    if (contentLength > maxBytes) return { kind: 'too_large', bytes: contentLength };
    const expiresOn = new Date(Date.now() + seconds * 1000);
    const signature = { permissions: BlobSASPermissions.parse('r'), expiresOn, protocol };
    const key = await keys?.(expiresOn, signal);
    const named = { containerName: container, blobName: name, version };
    const url =
      key === undefined
        ? await client.generateSasUrl(signature)
        : `${client.url}?${generateBlobSASQueryParameters({ ...named, ...signature }, key, client.accountName)}`;
    return { kind: 'file', file: { url, bytes: contentLength, etag } };
  }

  return {
    maxBytes,
    /** Signs a file that exists, of a valid name (M9), for so many seconds. Never rejects. */
    async sign(name: string, seconds: number, signal: AbortSignal): Promise<SignResult> {
      const named = clientOf(name);
      // The client resolves `..` segments.
      if (named.name !== name || named.containerName !== container) return { kind: 'changed_name' };
      return found(name, seconds, signal).catch((error) => {
        const { status, code } = error instanceof StorageError ? error : answerOf(error);
        return status === 404 && code !== 'ContainerNotFound' ? { kind: 'missing' } : unavailable(status, code);
      });
    },
  };
}

/** With an identity the account signs no file itself: it lends a key, which signs what the identity may read (D368). */
function delegationKeys({ url, credential }: Exclude<ContainerAccess['account'], Secret>) {
  const service = new BlobServiceClient(url.replace(/\/+$/, ''), credential, clientOptions());
  let known: { readonly key: UserDelegationKey; readonly until: Date } | undefined;
  return async (expiresOn: Date, signal: AbortSignal): Promise<UserDelegationKey> => {
    if (known !== undefined && known.until >= expiresOn) return known.key;
    const until = new Date(expiresOn.getTime() + keyMs);
    const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(limits.attemptMs)]);
    const key = await service.getUserDelegationKey(new Date(Date.now() - clockNoiseMs), until, { abortSignal });
    known = { key, until };
    return key;
  };
}
