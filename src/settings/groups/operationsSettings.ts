import type convict from 'convict';
import { secret } from './secret.ts';

export const http = {
  host: {
    doc: 'Address to listen on: for `/startupz`, `/livez` and `/readyz`, and for invocations of remote methods.',
    format: 'text',
    default: '0.0.0.0',
    env: 'HTTP_HOST',
  },
  port: {
    doc: 'Port of `/startupz`, `/livez` and `/readyz`; 0 selects a free one.',
    format: 'tcp-port',
    default: 8080,
    env: 'HTTP_PORT',
  },
} satisfies convict.Schema<unknown>;

/** The other ports are for others: probes, scrapers, callers of methods. This one is for people who operate the service. */
export const admin = {
  host: {
    doc: 'Address of the admin port. One that other machines can reach needs `ADMIN_TOKEN` (D100).',
    format: 'text',
    default: '127.0.0.1',
    env: 'ADMIN_HOST',
  },
  port: {
    doc: 'Port of the admin interface and of the tap; 0 selects a free one.',
    format: 'tcp-port',
    default: 8082,
    env: 'ADMIN_PORT',
  },
  ...secret('token', {
    doc: 'Bearer token for the admin port, at least 16 characters. When empty, every program on this machine can use the port.',
    format: 'admin-token',
    env: 'ADMIN_TOKEN',
  }),
} satisfies convict.Schema<unknown>;

export const log = {
  level: {
    doc: 'Lowest level that is logged.',
    format: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
    default: 'info',
    env: 'LOG_LEVEL',
  },
  pretty: {
    doc: 'Lines for people at a terminal instead of JSON.',
    format: 'flag',
    default: false,
    env: 'LOG_PRETTY',
  },
} satisfies convict.Schema<unknown>;
