import type convict from 'convict';

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
