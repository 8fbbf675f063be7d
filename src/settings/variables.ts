import { nearest } from '../text/nearest.ts';

/** A variable that looks like a setting but is none. */
export interface UnknownVariable {
  readonly variable: string;
  readonly hint: string;
}

/** Each setting’s variable begins with one of these, but for `STORE` and `IDENTITY` alone, and those of proxies. */
export const prefixes = [
  'IDENTITY_',
  'HUB_',
  'NETWORK_',
  'INFORMATION_MODEL_',
  'TYPE_REGISTRY_',
  'PRINCIPAL_MANAGER_',
  'BACKENDS_',
  'REPLIES_',
  'DELIVERY_',
  'DATA_',
  'STORE_',
  'CHECKPOINTS_',
  'DEAD_LETTERS_',
  'HTTP_',
  'ADMIN_',
  'LOG_',
  'METHODS_',
] as const;

/** Variables of others with these prefixes: of an app's managed identity, and of Kubernetes for a service with the name `hub` or `http`. */
const isOfOthers = (variable: string, value: string): boolean =>
  /^IDENTITY_(ENDPOINT|HEADER|API_VERSION|SERVER_THUMBPRINT)$/.test(variable) ||
  /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/.test(variable) ||
  /^(tcp|udp|sctp):\/\//.test(value);

/** @param settings the variables of all settings */
export function unknownVariables(env: NodeJS.ProcessEnv, settings: readonly string[]): UnknownVariable[] {
  return Object.entries(env).flatMap(([variable, value = '']) => {
    if (value === '' || settings.includes(variable)) return [];
    const isOurs = prefixes.some((prefix) => variable.startsWith(prefix)) && !isOfOthers(variable, value);
    return isOurs ? [{ variable, hint: `the nearest name is ${nearest(variable, settings)}` }] : [];
  });
}
