import { expect, it } from 'vitest';
import type { Settings } from '../src/settings/config.ts';
import { secretsOf } from '../src/settings/secrets.ts';

it('keys and signatures in connection strings are found, and all other secrets', () => {
  const hub = {
    eventsConnectionString: 'Endpoint=sb://h/;SharedAccessKeyName=service;SharedAccessKey=a2V5IDE=;EntityPath=e',
    serviceConnectionString: 'HostName=h;SharedAccessKeyName=service;SharedAccessKey=a2V5IDI=',
    consumerGroup: 'group',
  };
  const settings = {
    hub,
    backends: {
      informationModelUrl: 'https://im',
      token: 't=1',
      clientSecret: 'Q=7x;s3cret',
      clientId: 'id',
      tokenUrl: '',
    },
    checkpoints: { connectionString: 'BlobEndpoint=https://b/;SharedAccessSignature=sv=1&sig=x%3D' },
    deadLetters: { connectionString: 'AccountName=a;AccountKey=a2V5IDM=' },
  } as unknown as Settings;
  expect([...secretsOf(settings)].sort()).toEqual(
    ['a2V5IDE=', 'a2V5IDI=', 'a2V5IDM=', 'Q=7x;s3cret', 'sv=1&sig=x%3D', 't=1'].sort(),
  );
});
