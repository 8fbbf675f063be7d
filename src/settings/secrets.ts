import { proxySecrets } from 'telemetry/network/proxies.ts';
import { everySetting, type MethodsSettings, type Settings } from './table.ts';

/** Those of settings, and what came after. */
const known = new WeakMap<object, readonly string[]>();

/** What has been replaced stays in the list until as many others have come: it may be in use still. */
const mostReplaced = 100;

/**
 * Texts that must not leave the service: tokens, and the keys and signatures in connection strings (G5).
 * @returns the same list for the same settings, until there are others
 */
export function secretsOf(settings: Settings | MethodsSettings): readonly string[] {
  const found = known.get(settings) ?? secretsIn(settings);
  known.set(settings, found);
  return found;
}

/**
 * A file has another secret than at the start (D397).
 * @param path of its setting
 */
export function addSecret(settings: object, path: string, value: string): void {
  const first = secretsIn(settings);
  const before = known.get(settings) ?? first;
  const later = [...before.slice(first.length), ...textsOf(path, value)].slice(-mostReplaced);
  known.set(settings, [...first, ...later]);
}

function secretsIn(settings: object): readonly string[] {
  const groups: Readonly<Record<string, Readonly<Record<string, unknown>>>> = { ...settings };
  const found = Object.entries(everySetting).flatMap(([group, members]) =>
    Object.entries(members).flatMap(([name, setting]) => {
      const value = groups[group]?.[name];
      const isSecret = 'sensitive' in setting && setting.sensitive && !/url/i.test(name);
      if (!isSecret || typeof value !== 'string') return [];
      return textsOf(`${group}.${name}`, value);
    }),
  );
  return [...new Set(found)].filter((secret) => secret !== '');
}

/** What of the value of a setting is secret: of a proxy its user and password only. */
const textsOf = (path: string, value: string): readonly string[] =>
  /proxy$/i.test(path) ? proxySecrets(value) : keysIn(value);

/** The secret values of `Name=value;Name=value`. Any other text is secret as a whole. */
function keysIn(value: string): string[] {
  if (!/^\w+=[^;]*;/.test(value)) return [value];
  return value.split(';').flatMap((part) => /^\s*\w*(?:Key|Signature)\s*=\s*(.*?)\s*$/i.exec(part)?.[1] ?? []);
}
