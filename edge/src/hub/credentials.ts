import sdk from 'azure-iot-device';
import { partOf } from '../configuration/connectionString.ts';
import type { Configuration } from '../configuration/read.ts';

type Hub = Pick<Configuration['hub'], 'connectionString' | 'certificate' | 'key'>;

/**
 * With what the hub's client signs in (D426). `tokenSeconds` is how long the tokens of a key are valid.
 * @throws Error for a connection string that is none
 */
export function createCredentials({ connectionString, certificate, key }: Hub, tokenSeconds: number) {
  if (certificate === undefined || key === undefined)
    return sdk.SharedAccessKeyAuthenticationProvider.fromConnectionString(connectionString, tokenSeconds);
  const part = (name: string) => partOf(connectionString, name);
  const [host = '', deviceId = ''] = [part('HostName'), part('DeviceId')];
  const [moduleId, gatewayHostName] = [part('ModuleId'), part('GatewayHostName')];
  return new sdk.X509AuthenticationProvider({
    ...{ host, deviceId },
    ...(moduleId !== undefined && { moduleId }),
    ...(gatewayHostName !== undefined && { gatewayHostName }),
    x509: { cert: certificate, key },
  });
}
