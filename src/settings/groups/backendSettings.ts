import type convict from 'convict';
import { day, hour } from './measures.ts';
import { secret } from './secret.ts';

export const backends = {
  informationModelUrl: {
    doc: 'Base URL of the information model service.',
    format: 'base-url',
    default: '',
    env: 'INFORMATION_MODEL_URL',
    sensitive: true,
  },
  informationModelScope: {
    doc: 'Scope of the tokens that `IDENTITY` gets for the information model; when empty, the token of `BACKENDS_…` is used there.',
    format: 'optional-token-scope',
    default: '',
    env: 'INFORMATION_MODEL_SCOPE',
  },
  typeRegistryUrl: {
    doc: 'Base URL of the type definition registry.',
    format: 'base-url',
    default: '',
    env: 'TYPE_REGISTRY_URL',
    sensitive: true,
  },
  typeRegistryScope: {
    doc: 'Scope of the tokens that `IDENTITY` gets for the type registry; when empty, the token of `BACKENDS_…` is used there.',
    format: 'optional-token-scope',
    default: '',
    env: 'TYPE_REGISTRY_SCOPE',
  },
  principalManagerUrl: {
    doc: 'Base URL of the principal manager.',
    format: 'base-url',
    default: '',
    env: 'PRINCIPAL_MANAGER_URL',
    sensitive: true,
  },
  principalManagerScope: {
    doc: 'Scope of the tokens that `IDENTITY` gets for the principal manager; when empty, the token of `BACKENDS_…` is used there.',
    format: 'optional-token-scope',
    default: '',
    env: 'PRINCIPAL_MANAGER_SCOPE',
  },
  ...secret('token', {
    doc: 'Fixed bearer token for the backends, instead of the token endpoint.',
    format: 'bearer-token',
    env: 'BACKENDS_TOKEN',
  }),
  tokenUrl: {
    doc: 'OAuth2 token endpoint (client credentials) that issues the bearer tokens for the backends.',
    format: 'optional-url',
    default: '',
    env: 'BACKENDS_TOKEN_URL',
    sensitive: true,
  },
  clientId: {
    doc: 'Client id for the token endpoint.',
    format: 'optional-text',
    default: '',
    env: 'BACKENDS_CLIENT_ID',
  },
  ...secret('clientSecret', {
    doc: 'Client secret for the token endpoint.',
    format: 'optional-text',
    env: 'BACKENDS_CLIENT_SECRET',
  }),
  tokenScope: {
    doc: 'Scope for the token request; none when empty.',
    format: 'optional-text',
    default: '',
    env: 'BACKENDS_TOKEN_SCOPE',
  },
  attemptTimeoutSeconds: {
    doc: 'Time limit of one attempt at a backend call before it is retried, in seconds (B4).',
    format: 'count',
    maximum: hour,
    default: 30,
    env: 'BACKENDS_ATTEMPT_TIMEOUT_SECONDS',
  },
  connections: {
    doc: 'Most connections to each backend.',
    format: 'count',
    maximum: 10_000,
    default: 128,
    env: 'BACKENDS_CONNECTIONS',
  },
  cacheSeconds: {
    doc: 'How long the latest version of a type, and an identity, are cached, in seconds (B3).',
    format: 'count',
    maximum: day,
    default: 30,
    env: 'BACKENDS_CACHE_SECONDS',
  },
} satisfies convict.Schema<unknown>;
