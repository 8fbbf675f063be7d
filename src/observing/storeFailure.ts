import type { StoreFault } from '../protocol/vocabulary.ts';
import { foundIn, keyOrClock, noTokenTodo, ownLimitOf, type Remedy, type Todos, todoOrWait } from './diagnosis.ts';

/** Where a store is, in the words of the settings: what names the folder, or the account; and the container, if there is one. */
export type StoreLocation = { readonly setting: string; readonly containerSetting?: string };

export type StoreDiagnosis = Remedy & { readonly storeSaid: string };

export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';
  readonly fault: StoreFault;
  readonly diagnosis: StoreDiagnosis;
  readonly refusesContent: boolean;

  constructor(message: string, fault: StoreFault, diagnosis: StoreDiagnosis, refusesContent = false) {
    super(message);
    this.fault = fault;
    this.diagnosis = diagnosis;
    this.refusesContent = refusesContent;
  }
}

/** Whether a store will never take what it was given: neither waiting nor an operator changes that. */
export const refusesContent = (error: unknown): boolean => error instanceof StoreFailure && error.refusesContent;

/** Fields of a log line about an error: none when it is not that of a store. */
export const storeFieldsOf = (error: unknown): Partial<StoreDiagnosis> =>
  error instanceof StoreFailure ? error.diagnosis : {};

/** What the calls of an account throw; `said` is status and code, `date` the header of that name. */
type AccountError = Error & Readonly<Record<'code' | 'said', string> & { status?: number; date?: string }>;

const isOfAccount = (error: Error): error is AccountError => error.name === 'StorageError';

/** Of accounts and file systems: too large for them, or in the place of one that must stay as it is. */
const contentCodes: ReadonlySet<string> = new Set(['RequestBodyTooLarge', 'BlobImmutableDueToPolicy', 'EFBIG']);

/** Undefined for an error that says nothing about the store. */
export function storeFailureOf(error: unknown, place: StoreLocation): StoreFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error ? String(error.code) : '';
  const { containerSetting = '' } = place;
  const failed = (fault: StoreFault, setting: string, storeSaid: string, todo: string) => {
    const diagnosis = { setting, storeSaid, todo, ...ownLimitOf(code) };
    return new StoreFailure(error.message, fault, diagnosis, contentCodes.has(code));
  };
  if (isOfAccount(error)) {
    const { status, said } = error;
    const setting = code === 'ContainerNotFound' || code === 'InvalidResourceName' ? containerSetting : place.setting;
    const fault = status !== undefined && status < 500 ? 'refused' : 'unavailable';
    return failed(fault, setting, said, accountTodo(error, place.setting.endsWith('_ACCOUNT_URL')));
  }
  if (!('syscall' in error)) return undefined;
  // What makes a folder with those above it says so of a file system that cannot be written.
  const cause = error.syscall === 'mkdir' && code === 'ENOENT' ? 'EROFS' : code;
  const todo = foundIn(fileTodos, cause) ?? 'look at the disk, and at the log of the operating system';
  return failed(foundIn(fileTodos, cause) ? 'refused' : 'unavailable', place.setting, error.message, todo);
}

const fileTodos: Todos = {
  'must be a folder that the user of the process can write to': /^(EACCES|EPERM|EROFS|ENOTDIR|EISDIR)$/,
  'the folder has gone, with what was in it, and is made again: mount its volume, if it has one': /^ENOENT$/,
  'the disk is full: make room': /^(ENOSPC|EDQUOT)$/,
};

const compareAccount = 'compare AccountName or BlobEndpoint with that of the account';

const accountTodos: Todos = {
  [noTokenTodo]: /\bNoToken$/,
  'somebody holds a lease on the blob that the error names: end it (az storage blob lease break), and keep off what takes it':
    /\bLease/,
  'create this container, or give the connection string the right to': /\bContainerNotFound$/,
  'the connection string must allow to list, read, write and delete blobs in the container, from this address':
    /^403\b/,
  'wait: what failed is repeated': /^(408|429|5\d\d)\b/,
  [compareAccount]: /^\d/,
};

function accountTodo({ code, said, date }: AccountError, isByIdentity: boolean): string {
  const role =
    'give the identity the role Storage Blob Data Contributor at the container, and compare IDENTITY_STORAGE_SCOPE with the cloud of the account (docs/identity.md)';
  const key = 'AccountKey must be that of AccountName, or SharedAccessSignature one that has not expired';
  if (isByIdentity && /\bAuthenticationFailed$|^40[13]\b/.test(said)) return keyOrClock(role, code, date);
  if (/\bAuthenticationFailed$|^401\b/.test(said)) return keyOrClock(key, code, date);
  return foundIn(accountTodos, said) ?? todoOrWait(code, compareAccount);
}
