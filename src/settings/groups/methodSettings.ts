import type convict from 'convict';
import { gibibyte, hour, mebibyte } from './measures.ts';
import { secret } from './secret.ts';

export const methods = {
  port: {
    doc: 'Port of the front door for invocations; 0 selects a free one (M1).',
    format: 'tcp-port',
    default: 8081,
    env: 'METHODS_PORT',
  },
  tlsCertificateFile: {
    doc: 'PEM file with the certificate chain of that port. When empty, the port uses plain HTTP and belongs behind an ingress with TLS (M1).',
    format: 'optional-text',
    default: '',
    env: 'METHODS_TLS_CERTIFICATE_FILE',
  },
  tlsKeyFile: {
    doc: 'PEM file with the key of that certificate.',
    format: 'optional-text',
    default: '',
    env: 'METHODS_TLS_KEY_FILE',
  },
  edgeModule: {
    doc: 'Identity of the edge proxy on the device: a module of it, or the device itself when empty (M5).',
    format: 'optional-text',
    default: '',
    env: 'METHODS_EDGE_MODULE',
  },
  drainSeconds: {
    doc: 'How long a stop waits for the invocations in flight, in seconds (M1).',
    format: 'count',
    maximum: hour,
    default: 25,
    env: 'METHODS_DRAIN_SECONDS',
  },
} satisfies convict.Schema<unknown>;

export const files = {
  ...secret('connectionString', {
    doc: 'Connection string, with the account’s key, of an account of its own for the files of methods; when empty, `STORE_CONNECTION_STRING` is used.',
    format: 'signing-connection-string',
    env: 'METHODS_FILES_CONNECTION_STRING',
  }),
  accountUrl: {
    doc: 'URL of the blob service of an account of its own for the files of methods, used with `IDENTITY`.',
    format: 'optional-https-url',
    default: '',
    env: 'METHODS_FILES_ACCOUNT_URL',
    sensitive: true,
  },
  container: {
    doc: 'Container of the files for methods; it must not be that of the checkpoints or the dead letters. When empty, methods with files cannot be invoked (M9).',
    format: 'optional-container-name',
    default: '',
    env: 'METHODS_FILES_CONTAINER',
  },
  tenantClaim: {
    doc: 'Claim of the caller’s token whose value is the folder of the caller’s files; when empty, every authorised caller can use every file of the container (M9).',
    format: 'optional-text',
    default: '',
    env: 'METHODS_FILES_TENANT_CLAIM',
  },
  maxBytes: {
    doc: 'Largest file for a method, in bytes (M9).',
    format: 'count',
    maximum: 1024 * gibibyte,
    default: 100 * mebibyte,
    env: 'METHODS_FILES_MAX_BYTES',
  },
} satisfies convict.Schema<unknown>;
