import type convict from 'convict';

/** The platform's identity of the process, instead of keys (D365). */
export const identity = {
  kind: {
    doc: 'The identity of the process, for what has an address and no connection string: `workload` (the token file of a Kubernetes service account), `managed` (that of the machine or the app), or `developer` (that of the Azure CLI on this machine).',
    format: ['', 'workload', 'managed', 'developer'],
    default: '',
    env: 'IDENTITY',
  },
  clientId: {
    doc: 'Client id of the identity, if there are several: with `managed` of a user-assigned one, with `workload` instead of `AZURE_CLIENT_ID`.',
    format: 'optional-text',
    default: '',
    env: 'IDENTITY_CLIENT_ID',
  },
  authorityHost: {
    doc: 'Host that gives tokens for a workload’s identity; another one in a sovereign cloud, and then other scopes.',
    format: 'https-url',
    default: 'https://login.microsoftonline.com',
    env: 'IDENTITY_AUTHORITY_HOST',
  },
  hubScope: {
    doc: 'Scope of the tokens for replies and methods.',
    format: 'token-scope',
    default: 'https://iothubs.azure.net/.default',
    env: 'IDENTITY_HUB_SCOPE',
  },
  eventsScope: {
    doc: 'Scope of the tokens for reading a routed event hub.',
    format: 'token-scope',
    default: 'https://eventhubs.azure.net/.default',
    env: 'IDENTITY_EVENTS_SCOPE',
  },
  storageScope: {
    doc: 'Scope of the tokens for storage accounts.',
    format: 'token-scope',
    default: 'https://storage.azure.com/.default',
    env: 'IDENTITY_STORAGE_SCOPE',
  },
} satisfies convict.Schema<unknown>;
