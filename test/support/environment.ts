import type { Backends } from '../../sandbox/backends/backends.ts';
import { readSettings } from '../../src/settings/config.ts';

export const bearerToken = 'the-bearer-token-of-the-tests';

/** A hub and backends that nobody calls; a token is still needed. */
const elsewhere = {
  HUB_EVENTS_CONNECTION_STRING: 'Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=k;EntityPath=hub',
  HUB_SERVICE_CONNECTION_STRING: 'HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=k',
  INFORMATION_MODEL_URL: 'http://im.example',
  TYPE_REGISTRY_URL: 'http://tr.example',
  PRINCIPAL_MANAGER_URL: 'http://pm.example',
  ADMIN_PORT: '0',
};

/** The defaults of all settings but these; the admin port is a free one. */
export const settingsWith = (environment: Readonly<Record<string, string>>) =>
  readSettings({ ...elsewhere, ...environment }, 'no-such-directory');
export const settings = settingsWith({ BACKENDS_TOKEN: bearerToken });

/** Those of the reference backends. */
export const settingsOf = ({ informationModelUrl, typeRegistryUrl, principalManagerUrl, token }: Backends) =>
  settingsWith({
    INFORMATION_MODEL_URL: informationModelUrl,
    TYPE_REGISTRY_URL: typeRegistryUrl,
    PRINCIPAL_MANAGER_URL: principalManagerUrl,
    BACKENDS_TOKEN_URL: token.url,
    BACKENDS_CLIENT_ID: token.clientId,
    BACKENDS_CLIENT_SECRET: token.clientSecret,
  });
