import { readFileSync } from 'node:fs';
import { useProxies } from '@device-messaging/telemetry/outbound.ts';
import { trustAlso } from '@device-messaging/telemetry/trust.ts';
import { ConfigurationError, type MethodsSettings, type Settings } from '../settings/config.ts';
import { proxiesIn } from '../settings/derived.ts';

/**
 * Sets for the whole process how it reaches other machines: proxies and trusted authorities (D406, D407).
 * @throws ConfigurationError when the file of authorities cannot be used
 */
export function useNetwork({ network }: Pick<Settings | MethodsSettings, 'network'>): void {
  useProxies(proxiesIn(network));
  const { caFile } = network;
  if (caFile === '') return;
  try {
    trustAlso(readFileSync(caFile, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const fault = code === undefined ? message : `cannot be read (${code})`;
    throw new ConfigurationError([`NETWORK_CA_FILE: ${caFile} ${fault}`]);
  }
}
