import type convict from 'convict';
import { gibibyte, hour, mebibyte } from '../measures.ts';

export const data = {
  directory: {
    doc: 'Folder for all that the service keeps on disk: `checkpoints` and `dead-letters`, which must survive a restart, and `spool`, which need not.',
    format: 'text',
    default: '.data',
    env: 'DATA_DIRECTORY',
  },
} satisfies convict.Schema<unknown>;

export const checkpoints = {
  store: {
    doc: 'Where progress is kept: `file` (one instance), `blob` (several instances) or `memory` (tests; refused in production).',
    format: ['file', 'blob', 'memory'],
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
    doc: 'Container of the `blob` store; made when it is not there and the connection string allows it.',
    format: 'container-name',
    default: 'checkpoints',
    env: 'CHECKPOINTS_CONTAINER',
  },
  everyMessages: {
    doc: 'A partition’s progress is written after this many messages …',
    format: 'count',
    maximum: 1_000_000,
    default: 100,
    env: 'CHECKPOINTS_EVERY_MESSAGES',
  },
  everySeconds: {
    doc: '… or after this many seconds, whichever comes first.',
    format: 'count',
    maximum: hour,
    default: 5,
    env: 'CHECKPOINTS_EVERY_SECONDS',
  },
} satisfies convict.Schema<unknown>;

export const deadLetters = {
  store: {
    doc: 'Where messages that failed through the service’s own side are kept, to be replayed by an operator (G4): `directory`, or `blob` (shared by instances).',
    format: ['directory', 'blob'],
    default: 'directory',
    env: 'DEAD_LETTERS_STORE',
  },
  connectionString: {
    doc: 'Connection string of the storage account of the `blob` store; that of the checkpoints when empty.',
    format: 'storage-connection-string',
    default: '',
    env: 'DEAD_LETTERS_CONNECTION_STRING',
    sensitive: true,
  },
  container: {
    doc: 'Container of the `blob` store; made when it is not there and the connection string allows it.',
    format: 'container-name',
    default: 'dead-letters',
    env: 'DEAD_LETTERS_CONTAINER',
  },
  deviceLetters: {
    doc: 'Most dead letters of one device; the oldest make room.',
    format: 'count',
    maximum: 1_000_000,
    default: 1000,
    env: 'DEAD_LETTERS_OF_A_DEVICE',
  },
  maxLetters: {
    doc: 'Most dead letters in all; the oldest make room.',
    format: 'count',
    maximum: 1_000_000,
    default: 100_000,
    env: 'DEAD_LETTERS_MAX',
  },
  maxBytes: {
    doc: 'Most bytes of all dead letters together; the oldest make room.',
    format: 'count',
    maximum: 1024 * gibibyte,
    default: 1024 * mebibyte,
    env: 'DEAD_LETTERS_MAX_BYTES',
  },
  retentionDays: {
    doc: 'Dead letters that are older, in days, are deleted.',
    format: 'count',
    maximum: 3650,
    default: 14,
    env: 'DEAD_LETTERS_RETENTION_DAYS',
  },
} satisfies convict.Schema<unknown>;
