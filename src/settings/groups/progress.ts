import type convict from 'convict';
import { roundsInExpiry } from './constants.ts';
import { hour, mostBetweenSigns } from './measures.ts';

export const data = {
  directory: {
    doc: 'Folder for all files of the service: `checkpoints` and `dead-letters`, which must survive a restart, and `spool`, which may be lost.',
    format: 'text',
    default: '.data',
    env: 'DATA_DIRECTORY',
  },
} satisfies convict.Schema<unknown>;

export const checkpoints = {
  store: {
    doc: 'Where checkpoints are stored: `file` (one instance) or `blob` (several instances).',
    format: ['file', 'blob'],
    default: 'file',
    env: 'CHECKPOINTS_STORE',
  },
  connectionString: {
    doc: 'Connection string of the storage account of the `blob` store: with the account’s key, or with a shared access signature.',
    format: 'storage-connection-string',
    default: '',
    env: 'CHECKPOINTS_CONNECTION_STRING',
    sensitive: true,
  },
  container: {
    doc: 'Container of the `blob` store; created if it does not exist and the connection string allows it.',
    format: 'container-name',
    default: 'checkpoints',
    env: 'CHECKPOINTS_CONTAINER',
  },
  everySeconds: {
    doc: 'A partition’s checkpoint is written after this many seconds or after 500 messages, whichever comes first (D149).',
    format: 'count',
    maximum: hour,
    default: 5,
    env: 'CHECKPOINTS_EVERY_SECONDS',
  },
} satisfies convict.Schema<unknown>;

export const scaling = {
  expirySeconds: {
    doc: 'An instance that has not renewed its ownership for this long, in seconds, loses its partitions to the others. It renews six times in this time (D15).',
    format: 'count',
    maximum: roundsInExpiry * mostBetweenSigns,
    default: 30,
    env: 'SCALING_EXPIRY_SECONDS',
  },
} satisfies convict.Schema<unknown>;
