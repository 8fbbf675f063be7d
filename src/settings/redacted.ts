import { everySetting, type MethodsSettings, type Settings } from './table.ts';

type Groups = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The settings in effect, for the log: of secrets only that they are set, of connection strings what is no secret (G5). */
export function redactedSettings(settings: Settings | MethodsSettings): Groups {
  const groups: Groups = settings;
  const entries = Object.entries(groups).map(([group, members]) => {
    const shown = Object.entries(members).map(([name, value]) => [name, shownOf(name, value, isSecret(group, name))]);
    return [group, Object.fromEntries(shown)];
  });
  return Object.fromEntries(entries);
}

/** What is not known to be harmless is a secret. */
function isSecret(group: string, name: string): boolean {
  const every: Groups = everySetting;
  const setting = every[group]?.[name];
  if (typeof setting !== 'object' || setting === null) return true;
  return 'sensitive' in setting && setting.sensitive === true;
}

const hidden = '[set]';

function shownOf(name: string, value: unknown, isSecret: boolean): unknown {
  if (typeof value !== 'string') return isSecret ? hidden : value;
  if (/connectionString$/i.test(name)) return value.split(';').flatMap(harmlessPart).join(';');
  if (value === '') return value;
  if (/(url|^https?Proxy)$/i.test(name)) return withoutSecrets(value);
  return isSecret ? hidden : value;
}

/** The parts of connection strings that say where and as whom. */
const harmless = [
  'Endpoint',
  'EntityPath',
  'HostName',
  'SharedAccessKeyName',
  'UseDevelopmentEmulator',
  'UseDevelopmentStorage',
  'DefaultEndpointsProtocol',
  'AccountName',
  'BlobEndpoint',
  'EndpointSuffix',
];

function harmlessPart(part: string): string[] {
  const at = part.indexOf('=');
  const name = part.slice(0, at).trim();
  if (at < 0 || name === '') return [];
  const value = part.slice(at + 1).trim();
  if (!harmless.includes(name)) return /^\w{1,40}$/.test(name) ? [`${name}=${hidden}`] : [];
  return [`${name}=${/^[\w.-]+(:\d+)?$/.test(value) ? value : withoutSecrets(value)}`];
}

/** Without user, query and fragment. */
function withoutSecrets(url: string): string {
  if (!URL.canParse(url)) return hidden;
  const { protocol, host, pathname } = new URL(url);
  return host === '' ? hidden : `${protocol}//${host}${pathname}`;
}
