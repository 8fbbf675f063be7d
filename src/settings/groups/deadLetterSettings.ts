import type convict from 'convict';
import { gibibyte } from './measures.ts';
import { secret } from './secret.ts';

export const deadLetters = {
  ...secret('connectionString', {
    doc: 'Connection string of an account of its own for the dead letters; when empty, `STORE_CONNECTION_STRING` is used.',
    format: 'storage-connection-string',
    env: 'DEAD_LETTERS_CONNECTION_STRING',
  }),
  accountUrl: {
    doc: 'URL of the blob service of an account of its own for the dead letters, used with `IDENTITY`.',
    format: 'optional-https-url',
    default: '',
    env: 'DEAD_LETTERS_ACCOUNT_URL',
    sensitive: true,
  },
  container: {
    doc: 'Container of the dead letters with `STORE=blob`; created if it does not exist and the connection string allows it.',
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
