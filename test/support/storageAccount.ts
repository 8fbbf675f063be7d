import { beforeAll } from 'vitest';
import { type Azurite, connectionStringTo, startAzurite } from '../../sandbox/methods/azurite.ts';

export interface StorageAccount {
  readonly connectionString: string;
  /** Of the blob service, which other accounts use too. */
  readonly port: number;
  /** The connection string for a proxy at another port. */
  at(port: number): string;
}

const names = Array.from({ length: 100 }, (_, number) => `tests${number}`);
let given = 0;
let azurite: Promise<Azurite> | undefined;

/** A new account, in the azurite that all tests of this process share. It ends with the process. */
export async function storageAccount(): Promise<StorageAccount> {
  const name = names[given];
  if (name === undefined) throw new Error(`a process of tests has ${names.length} accounts`);
  given += 1;
  azurite ??= startAzurite({ accounts: names });
  const { port } = await azurite;
  const at = (other: number) => connectionStringTo(other, name);
  return { connectionString: at(port), port, at };
}

export function storageForAll(): StorageAccount {
  const storage = {} as StorageAccount;
  beforeAll(async () => void Object.assign(storage, await storageAccount()));
  return storage;
}
