import { beforeAll } from 'vitest';
import { type StorageAccount, storageAccount } from './storageAccount.ts';

/** A storage account for all tests of a file or group. */
export function storageForAll(): StorageAccount {
  const storage = {} as StorageAccount;
  beforeAll(async () => void Object.assign(storage, await storageAccount()));
  return storage;
}
