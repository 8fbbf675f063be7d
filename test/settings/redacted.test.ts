import { expect, it } from 'vitest';
import { readMethodsSettings, readSettings, settingDocs } from '../../src/settings/config.ts';
import { redactedSettings } from '../../src/settings/secrets.ts';

const canary = 'Y2FuYXJ5cyBzaW5n';

const common = {
  HUB_SERVICE_CONNECTION_STRING: `HostName=hub.example;SharedAccessKeyName=service;SharedAccessKey=${canary}=`,
  INFORMATION_MODEL_URL: 'https://im.example/base',
  TYPE_REGISTRY_URL: 'https://tr.example',
  BACKENDS_TOKEN_URL: 'https://login.example/token',
  BACKENDS_CLIENT_ID: 'id',
  BACKENDS_CLIENT_SECRET: `${canary};x=1`,
  HTTPS_PROXY: `http://user:${canary}@proxy.example:3128`,
  NO_PROXY: '*',
};

const environment = {
  ...common,
  HUB_EVENTS_CONNECTION_STRING: `Endpoint=sb://hub.example/;SharedAccessKeyName=service;SharedAccessKey=${canary}=;EntityPath=e`,
  PRINCIPAL_MANAGER_URL: 'https://pm.example',
  STORE: 'blob',
  STORE_CONNECTION_STRING: `DefaultEndpointsProtocol=https;AccountName=s;AccountKey=${canary}==`,
  CHECKPOINTS_CONTAINER: 'checkpoints',
  CHECKPOINTS_CONNECTION_STRING: `BlobEndpoint=https://b.example/;SharedAccessSignature=sv=1&sig=${canary}%3D`,
  DEAD_LETTERS_CONNECTION_STRING: `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${canary}==;Odd=${canary}`,
};

it('redacted settings show the addresses and users of connections and all other settings, but no secret', () => {
  const shown = redactedSettings(readSettings(environment, 'no-such-directory'));
  expect(JSON.stringify(shown)).not.toContain(canary);
  expect(shown).toMatchObject({
    hub: {
      eventsConnectionString:
        'Endpoint=sb://hub.example/;SharedAccessKeyName=service;SharedAccessKey=[set];EntityPath=e',
      serviceConnectionString: 'HostName=hub.example;SharedAccessKeyName=service;SharedAccessKey=[set]',
      consumerGroup: '$Default',
    },
    backends: { informationModelUrl: 'https://im.example/base', token: '', clientId: 'id', clientSecret: '[set]' },
    store: { kind: 'blob', connectionString: 'DefaultEndpointsProtocol=https;AccountName=s;AccountKey=[set]' },
    checkpoints: { connectionString: 'BlobEndpoint=https://b.example/;SharedAccessSignature=[set]' },
    deadLetters: { connectionString: 'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=[set];Odd=[set]' },
    network: { httpsProxy: 'http://proxy.example:3128/', httpProxy: '', noProxy: '*' },
    log: { level: 'info', pretty: false },
  });
});

it('redacted settings hide each secret setting, and the secret parts of a URL in any form, for both programs', () => {
  const methods = {
    ...common,
    METHODS_FILES_CONNECTION_STRING: `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${canary}==`,
    METHODS_FILES_CONTAINER: 'files',
    METHODS_FILES_TENANT_CLAIM: 'tenant',
  };
  const both = [readSettings(environment, 'no-such-directory'), readMethodsSettings(methods, 'no-such-directory')];
  const secret = settingDocs().filter((setting) => setting.secret || /url$/i.test(setting.path));
  expect(secret.length).toBeGreaterThan(5);
  for (const settings of both) {
    for (const { path } of secret) {
      const [group = '', name = ''] = path.split('.');
      if (!(group in settings)) continue;
      for (const form of [
        canary,
        `${canary} `,
        `x:${canary}`,
        `https://u:${canary}@h/?${canary}#${canary}`,
        `https://:${canary}@h/`,
        `a=${canary};b`,
      ]) {
        const changed = { ...settings, [group]: { ...settings[group as keyof typeof settings], [name]: form } };
        expect(JSON.stringify(redactedSettings(changed))).not.toContain(canary);
      }
    }
  }
});
