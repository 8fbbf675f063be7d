import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tunnelTo, useProxies } from '@device-messaging/telemetry/outbound.ts';
import { hostOf, proxyProblem } from '@device-messaging/telemetry/proxies.ts';
import { trustAlso } from '@device-messaging/telemetry/trust.ts';
import { partOf } from '../configuration/connectionString.ts';
import { type Configuration, ConfigurationError } from '../configuration/read.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** IoT Edge writes these variables in lower case. */
const variable = (env: Environment, name: string): string => env[name] || env[name.toLowerCase()] || '';

/**
 * The proxy, which can have a password; empty when there is none.
 * @throws ConfigurationError when its file cannot be read or is empty, or both ways name one
 */
export function proxyIn(env: Environment): string {
  const file = env['HTTPS_PROXY_FILE'];
  const given = variable(env, 'HTTPS_PROXY');
  if (!file) return given;
  if (given !== '')
    throw new ConfigurationError([
      'HTTPS_PROXY and HTTPS_PROXY_FILE are two ways to give the same secret; remove one of them',
    ]);
  const found = contentOf(file);
  if (found === '') throw new ConfigurationError([`HTTPS_PROXY_FILE: ${file} is empty: write the address into it`]);
  return found;
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigurationError([
      `HTTPS_PROXY_FILE: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    ]);
  }
}

/**
 * Sets for the whole process how it reaches other machines (D408).
 * @throws ConfigurationError
 */
export function useNetwork({ hub, network }: Pick<Configuration, 'hub' | 'network'>, env: Environment): void {
  const https = proxyIn(env);
  const problem = https === '' ? undefined : proxyProblem(https);
  if (problem !== undefined) throw new ConfigurationError([`HTTPS_PROXY: ${problem}`]);
  useProxies({ https, http: '', except: variable(env, 'NO_PROXY') });
  if (!hub.webSockets && tunnelTo(hubAddress(hub.connectionString)) !== undefined)
    throw new ConfigurationError([
      'hub.webSockets: MQTT at port 8883 passes no proxy, and HTTPS_PROXY leads to the hub; set it to true, or name the hub in NO_PROXY',
    ]);
  if (hub.webSockets && isIP(hostOf(hubAddress(hub.connectionString))) === 6)
    throw new ConfigurationError([
      'hub.webSockets: cannot reach an IPv6 address; use a name of the hub, or set it to false',
    ]);
  if (network.ca === undefined) return;
  try {
    trustAlso(network.ca);
  } catch (error) {
    throw new ConfigurationError([`network.caFile: ${(error as Error).message}`]);
  }
}

/** Of the gateway, if the connection string names one. */
export function hubAddress(connectionString: string): URL {
  return new URL(`https://${partOf(connectionString, 'GatewayHostName') ?? partOf(connectionString, 'HostName')}`);
}
