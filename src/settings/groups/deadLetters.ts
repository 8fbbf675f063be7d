import type convict from 'convict';
import { gibibyte } from './measures.ts';

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
  maxBytes: {
    doc: 'Most bytes of all dead letters together; the oldest make room.',
    format: 'count',
    maximum: 1024 * gibibyte,
    default: gibibyte,
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
