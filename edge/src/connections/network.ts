import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tunnelTo, useProxies } from '@device-messaging/telemetry/outbound.ts';
import { hostOf, proxyProblem } from '@device-messaging/telemetry/proxies.ts';
import { trustAlso } from '@device-messaging/telemetry/trust.ts';
import { ConfigurationError, partOf } from '../configuration/checks.ts';
import type { Configuration } from '../configuration/read.ts';

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
  let found: string;
  try {
    found = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigurationError([
      `HTTPS_PROXY_FILE: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    ]);
  }
  if (found === '') throw new ConfigurationError([`HTTPS_PROXY_FILE: ${file} is empty: write the address into it`]);
  return found;
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
  const address = hubAddress(hub.connectionString);
  if (!hub.webSockets && tunnelTo(address) !== undefined)
    throw new ConfigurationError([
      'hub.webSockets: MQTT at port 8883 passes no proxy, and HTTPS_PROXY leads to the hub; set it to true, or name the hub in NO_PROXY',
    ]);
  if (hub.webSockets && isIP(hostOf(address)) === 6)
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

/** Until its first connection the hub's client calls every failure this, a closed port too. */
const firstFailure = /^mqtt\.js returned Failure on first connection \(Not authorized\): (.*) error$/s;

/** Message of an error of the hub's or the broker's client, never with what the client was given. */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return errorMessage(error.errors[0]);
  if (error instanceof Error)
    return error.message.replace(firstFailure, '$1') || ('code' in error ? String(error.code) : error.name);
  const inner: unknown = Object(error).transportObj; // results of the hub's client wrap errors
  return inner instanceof Error ? errorMessage(inner) : 'the connection was closed';
}
