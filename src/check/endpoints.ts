import { hostOf } from 'telemetry/network/proxies.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { type Account, accountOf, isLookedUp, placeOf } from '../settings/derived.ts';

/** Where a program connects to. */
export interface Endpoint {
  /** `event endpoint`. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly isEncrypted: boolean;
  /** What names it in the settings. */
  readonly setting: string;
  /** Asked for the time; undefined when it speaks no HTTP. */
  readonly url: string | undefined;
}

const part = (connectionString: string, name: string): string | undefined =>
  new RegExp(`(?:^|;)\\s*${name}=([^;]+)`).exec(connectionString)?.[1]?.trim();

export function eventEndpoint({
  eventsConnectionString,
  eventsNamespace,
  transport,
}: Pick<Settings['hub'], 'eventsConnectionString' | 'eventsNamespace' | 'transport'>): Endpoint {
  const usual = transport === 'websockets' ? 443 : 5671;
  if (eventsNamespace !== '') {
    const url = new URL(`http://${eventsNamespace}`);
    const more = { isEncrypted: true, setting: 'HUB_EVENTS_NAMESPACE', url: undefined };
    return { name: 'event endpoint', host: hostOf(url), port: Number(url.port) || usual, ...more };
  }
  const url = new URL((part(eventsConnectionString, 'Endpoint') ?? '').replace(/^sb:/, 'http:'));
  const isEncrypted = part(eventsConnectionString, 'UseDevelopmentEmulator') !== 'true';
  return {
    name: 'event endpoint',
    host: hostOf(url),
    port: Number(url.port) || (isEncrypted ? usual : 5672),
    ...{ isEncrypted, setting: 'Endpoint of HUB_EVENTS_CONNECTION_STRING', url: undefined },
  };
}

/** @param port of the protocol that the program speaks with it */
export function hubEndpoint(
  { serviceConnectionString, hostName }: Pick<Settings['hub'], 'serviceConnectionString' | 'hostName'>,
  port: number,
): Endpoint {
  const name = hostName || (part(serviceConnectionString, 'HostName') ?? '');
  const setting = hostName === '' ? 'HostName of HUB_SERVICE_CONNECTION_STRING' : 'HUB_HOST_NAME';
  const url = new URL(`https://${name}`);
  return {
    name: 'service endpoint',
    host: hostOf(url),
    port: Number(url.port) || port,
    ...{ isEncrypted: true, setting, url: url.origin },
  };
}

/** For replies. */
export const amqpEndpoint = (hub: Settings['hub']): Endpoint =>
  hubEndpoint(hub, hub.transport === 'websockets' ? 443 : 5671);

/** @param setting that has the connection string */
function storageEndpoint(name: string, connectionString: string, setting: string): Endpoint {
  const account = part(connectionString, 'AccountName') ?? '';
  const protocol = part(connectionString, 'DefaultEndpointsProtocol') ?? 'https';
  const suffix = part(connectionString, 'EndpointSuffix') ?? 'core.windows.net';
  const given = part(connectionString, 'BlobEndpoint') ?? `${protocol}://${account}.blob.${suffix}`;
  const isEmulator = part(connectionString, 'UseDevelopmentStorage') === 'true';
  return webEndpoint(name, isEmulator ? 'http://127.0.0.1:10000' : given, setting);
}

function webEndpoint(name: string, address: string, setting: string): Endpoint {
  const url = new URL(address);
  const isEncrypted = url.protocol === 'https:';
  const port = Number(url.port) || (isEncrypted ? 443 : 80);
  return { name, host: hostOf(url), port, isEncrypted, setting, url: url.origin };
}

/** Each address once, under the first of its names. */
export function serviceEndpoints({ hub, store, checkpoints, deadLetters, backends }: Settings): Endpoint[] {
  const stores =
    store.kind === 'blob'
      ? [
          ofStore('checkpoints', checkpoints, store, 'CHECKPOINTS'),
          ofStore('dead letters', deadLetters, store, 'DEAD_LETTERS'),
        ]
      : [];
  return once([
    ...(isLookedUp(hub) ? [] : [eventEndpoint(hub)]),
    amqpEndpoint(hub),
    ...stores,
    ...backendEndpoints(backends),
    webEndpoint('principal manager', backends.principalManagerUrl, 'PRINCIPAL_MANAGER_URL'),
  ]);
}

export function methodsEndpoints({ hub, store, files, backends }: MethodsSettings): Endpoint[] {
  return once([
    hubEndpoint(hub, 443),
    ...(files.container === '' ? [] : [ofStore('files', files, store, 'METHODS_FILES')]),
    ...backendEndpoints(backends),
  ]);
}

function ofStore(
  name: string,
  own: Account,
  store: Account,
  prefix: 'CHECKPOINTS' | 'DEAD_LETTERS' | 'METHODS_FILES',
): Endpoint {
  const { connectionString, accountUrl } = accountOf(own, store);
  const { setting } = placeOf(own, { ...store, kind: 'blob' }, prefix);
  return accountUrl === '' ? storageEndpoint(name, connectionString, setting) : webEndpoint(name, accountUrl, setting);
}

const backendEndpoints = ({ informationModelUrl, typeRegistryUrl, tokenUrl }: MethodsSettings['backends']) => [
  webEndpoint('information model', informationModelUrl, 'INFORMATION_MODEL_URL'),
  webEndpoint('type registry', typeRegistryUrl, 'TYPE_REGISTRY_URL'),
  ...(tokenUrl === '' ? [] : [webEndpoint('token endpoint', tokenUrl, 'BACKENDS_TOKEN_URL')]),
];

function once(endpoints: readonly Endpoint[]): Endpoint[] {
  const known = new Map<string, Endpoint>();
  for (const endpoint of endpoints) {
    const key = `${endpoint.host}:${endpoint.port}`;
    if (!known.has(key)) known.set(key, endpoint);
  }
  return [...known.values()];
}

/** The `what` of the check that reaches this address. */
export const networkOf = (endpoints: readonly Endpoint[], { host, port }: Endpoint): string => {
  const first = endpoints.find((one) => one.host === host && one.port === port);
  return `network of ${first?.name ?? host}`;
};
