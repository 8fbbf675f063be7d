import { expect, it } from 'vitest';
import { createCredentials } from '../../edge/src/hub/credentials.ts';

// With what the proxy signs in at the hub (D426).

it.each<[string, string, object]>([
  ['a device', '', {}],
  ['a module', ';ModuleId=m', { moduleId: 'm' }],
  ['a device behind a gateway', ';GatewayHostName=g', { gatewayHostName: 'g' }],
])('the certificate of %s signs it in as what the connection string names', async (_, more, expected) => {
  const connectionString = `HostName=h;DeviceId=d;x509=true${more}`;
  const provider = createCredentials({ connectionString, certificate: 'c', key: 'k' }, 60);
  const credentials = await new Promise((resolve, reject) =>
    provider.getDeviceCredentials((error, found) => (error ? reject(error) : resolve(found))),
  );
  expect(credentials).toEqual({ host: 'h', deviceId: 'd', x509: { cert: 'c', key: 'k' }, ...expected });
});
