import type convict from 'convict';
import { secret } from './secret.ts';

/** How other machines are reached: the same for every connection of a program (D406, D407). */
export const network = {
  ...secret('httpsProxy', {
    doc: 'Proxy for addresses with TLS, as in `http://user:password@proxy:3128`: hub, backends, storage, tokens, collectors. Reading and replies need `HUB_TRANSPORT=websockets` with it (D406).',
    format: 'proxy',
    env: 'HTTPS_PROXY',
  }),
  ...secret('httpProxy', {
    doc: 'Proxy for addresses without TLS; it must allow CONNECT to them (D406).',
    format: 'proxy',
    env: 'HTTP_PROXY',
  }),
  noProxy: {
    doc: 'What is reached without a proxy, separated by commas: hosts, which stand for their subdomains, too; addresses; networks (`10.0.0.0/8`); `*` for all.',
    format: 'optional-text',
    default: '',
    env: 'NO_PROXY',
  },
  caFile: {
    doc: 'PEM file of certificate authorities to trust besides those of Node.js, for every connection (D407).',
    format: 'optional-text',
    default: '',
    env: 'NETWORK_CA_FILE',
  },
} satisfies convict.Schema<unknown>;
