import type convict from 'convict';
import { gibibyte } from './measures.ts';

export const deadLetters = {
  store: {
    doc: 'Where dead letters are stored (G4): `directory`, or `blob` (shared by instances). Dead letters are messages that failed because of the service or a backend; an operator can replay them.',
    format: ['directory', 'blob'],
    default: 'directory',
    env: 'DEAD_LETTERS_STORE',
  },
  connectionString: {
    doc: 'Connection string of the storage account of the `blob` store; when empty, that of the checkpoints is used.',
    format: 'storage-connection-string',
    default: '',
    env: 'DEAD_LETTERS_CONNECTION_STRING',
    sensitive: true,
  },
  container: {
    doc: 'Container of the `blob` store; created if it does not exist and the connection string allows it.',
    format: 'container-name',
    default: 'dead-letters',
    env: 'DEAD_LETTERS_CONTAINER',
  },
  maxBytes: {
    doc: 'Most bytes of all dead letters together; beyond it the oldest are deleted.',
    format: 'count',
    maximum: 1024 * gibibyte,
    default: gibibyte,
    env: 'DEAD_LETTERS_MAX_BYTES',
  },
  retentionDays: {
    doc: 'Dead letters older than this, in days, are deleted.',
    format: 'count',
    maximum: 3650,
    default: 14,
    env: 'DEAD_LETTERS_RETENTION_DAYS',
  },
} satisfies convict.Schema<unknown>;
