import type convict from 'convict';
import { secret } from './secret.ts';

export const data = {
  directory: {
    doc: 'With `STORE=file`, folder for all files of the service, `checkpoints` and `dead-letters`, which must survive a restart.',
    format: 'text',
    default: '.data',
    env: 'DATA_DIRECTORY',
  },
} satisfies convict.Schema<unknown>;

/** One decision for everything that is kept (D292). */
export const store = {
  kind: {
    doc: 'Where checkpoints and dead letters are kept: `file`, in the data directory (one instance), or `blob`, in an Azure storage account (one instance or several).',
    format: ['file', 'blob'],
    default: 'file',
    env: 'STORE',
  },
  ...secret('connectionString', {
    doc: 'Connection string of the storage account: with the account’s key, or with a shared access signature. Files for methods need the key.',
    format: 'storage-connection-string',
    env: 'STORE_CONNECTION_STRING',
  }),
  accountUrl: {
    doc: 'Instead of that connection string: URL of the blob service of the storage account, used with `IDENTITY`.',
    format: 'optional-https-url',
    default: '',
    env: 'STORE_ACCOUNT_URL',
    sensitive: true,
  },
} satisfies convict.Schema<unknown>;

export const checkpoints = {
  ...secret('connectionString', {
    doc: 'Connection string of an account of its own for the checkpoints; when empty, `STORE_CONNECTION_STRING` is used.',
    format: 'storage-connection-string',
    env: 'CHECKPOINTS_CONNECTION_STRING',
  }),
  accountUrl: {
    doc: 'URL of the blob service of an account of its own for the checkpoints, used with `IDENTITY`.',
    format: 'optional-https-url',
    default: '',
    env: 'CHECKPOINTS_ACCOUNT_URL',
    sensitive: true,
  },
  container: {
    doc: 'Container of the checkpoints with `STORE=blob`; created if it does not exist and the connection string allows it.',
    format: 'container-name',
    default: 'checkpoints',
    env: 'CHECKPOINTS_CONTAINER',
  },
} satisfies convict.Schema<unknown>;
