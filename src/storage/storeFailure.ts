import { noTokenTodo } from '../identity/identity.ts';
import type { StoreFault } from '../protocol/vocabulary.ts';
import { ownLimitOf, todoOf } from '../text/absence.ts';
import { keyOrClock } from '../text/clock.ts';
import { isLease, StorageError } from './storageCalls.ts';

/** Where a store is, in the words of the settings. */
export interface StoreLocation {
  /** Names the folder, or the account. */
  readonly setting: string;
  /** Names the container; undefined for a folder. */
  readonly containerSetting?: string;
}

/** What an operator can do about a store that fails; fields of a log line. */
export interface StoreDiagnosis {
  /** The setting to look at. */
  readonly setting: string;
  readonly storeSaid: string;
  readonly todo: string;
}

/** A store has not done what it was asked for. */
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

const giveRole =
  'give the identity the role Storage Blob Data Contributor at the container, and compare IDENTITY_STORAGE_SCOPE with the cloud of the account (docs/identity.md)';
const wait = 'wait: what failed is repeated';
const compare = 'compare AccountName or BlobEndpoint with that of the account';

/** Undefined for an error that says nothing about the store. */
export function storeFailureOf(
  error: unknown,
  { setting, containerSetting = '' }: StoreLocation,
): StoreFailure | undefined {
  if (error instanceof StorageError) {
    const { status, code, said, message } = error;
    const isOfContainer = code === 'ContainerNotFound' || code === 'InvalidResourceName';
    const diagnosis = {
      setting: isOfContainer ? containerSetting : setting,
      storeSaid: said,
      todo: accountTodo(error, setting.endsWith('_ACCOUNT_URL')),
      ...ownLimitOf(code),
    };
    const fault = status !== undefined && status < 500 ? 'refused' : 'unavailable';
    return new StoreFailure(message, fault, diagnosis, contentCodes.has(code));
  }
  if (!(error instanceof Error) || !('syscall' in error)) return undefined;
  const code = 'code' in error ? String(error.code) : '';
  const todo = fileTodos[code];
  const diagnosis = {
    setting,
    storeSaid: error.message,
    todo: todo ?? 'look at the disk, and at the log of the operating system',
    ...ownLimitOf(code),
  };
  return new StoreFailure(error.message, todo ? 'refused' : 'unavailable', diagnosis, contentCodes.has(code));
}

/** Of accounts and file systems: too large for them, or in the place of one that must stay as it is. */
const contentCodes: ReadonlySet<string> = new Set(['RequestBodyTooLarge', 'BlobImmutableDueToPolicy', 'EFBIG']);

/** @param isByIdentity instead of a connection string */
function accountTodo({ status, code, date }: StorageError, isByIdentity: boolean): string {
  if (code === 'NoToken') return noTokenTodo;
  const isUnknown = code === 'AuthenticationFailed' || status === 401;
  if (isByIdentity && (isUnknown || status === 403)) return keyOrClock(giveRole, code, date);
  if (isUnknown)
    return keyOrClock(
      'AccountKey must be that of AccountName, or SharedAccessSignature one that has not expired',
      code,
      date,
    );
  if (isLease(code))
    return 'somebody holds a lease on the blob that the error names: end it (az storage blob lease break), and keep off what takes it';
  if (code === 'ContainerNotFound') return 'create this container, or give the connection string the right to';
  if (status === 403)
    return 'the connection string must allow to list, read, write and delete blobs in the container, from this address';
  if (status === undefined) return todoOf(code, compare) ?? `${compare}, or wait until it is back`;
  return status < 500 && status !== 408 && status !== 429 ? compare : wait;
}

const folder = 'must be a folder that the user of the process can write to';

/** By the codes of the operating system. */
const fileTodos: Readonly<Record<string, string>> = {
  EACCES: folder,
  EPERM: folder,
  EROFS: folder,
  ENOTDIR: folder,
  EISDIR: folder,
  ENOENT: 'the folder has gone, with what was in it, and is made again: mount its volume, if it has one',
  ENOSPC: 'the disk is full: make room',
  EDQUOT: 'the disk is full: make room',
};
