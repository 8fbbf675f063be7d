import { proxySecrets } from 'telemetry/network/proxies.ts';
import { everySetting, type MethodsSettings, type Settings } from './schema.ts';

/** Texts that must not leave the service: tokens, and the keys and signatures in connection strings (G5). */
export function secretsOf(settings: Settings | MethodsSettings): string[] {
  const groups: Readonly<Record<string, Readonly<Record<string, unknown>>>> = settings;
  const found = Object.entries(everySetting).flatMap(([group, members]) =>
    Object.entries(members).flatMap(([name, setting]) => {
      const value = groups[group]?.[name];
      const isSecret = 'sensitive' in setting && setting.sensitive && !/url/i.test(name);
      if (!isSecret || typeof value !== 'string') return [];
      return setting.format === 'proxy' ? proxySecrets(value) : keysIn(value);
    }),
  );
  return [...new Set(found)].filter((secret) => secret !== '');
}

/** The secret values of `Name=value;Name=value`. Any other text is secret as a whole. */
function keysIn(value: string): string[] {
  if (!/^\w+=[^;]*;/.test(value)) return [value];
  return value.split(';').flatMap((part) => /^\s*\w*(?:Key|Signature)\s*=\s*(.*?)\s*$/i.exec(part)?.[1] ?? []);
}
