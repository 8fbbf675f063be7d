import { isIP } from 'node:net';
import { createProxyOf, hostOf, proxyProblem } from '@device-messaging/telemetry/proxies.ts';
import { accountOf, isNowhere, proxiesIn } from './derived.ts';
import { hasAccountKey, isLoopback, partOf } from './formats.ts';
import { type MethodsSettings, type Settings, settingDocs, settingIn } from './table.ts';

/** Checks across settings. One sentence for each fault, without values of secrets. */
export const settingDisagreements = (settings: Settings): string[] =>
  [identity, events, service, transport, token, store, admin].flatMap((check) => check(settings));

export const methodsDisagreements = (settings: MethodsSettings): string[] =>
  [identity, service, token, ports, certificate, files, admin].flatMap((check) => check(settings));

const those = (faults: Readonly<Record<string, boolean>>): string[] =>
  Object.entries(faults).flatMap(([sentence, applies]) => (applies ? [sentence] : []));

/** Those of the settings that are set, as in `hub.hostName: HUB_HOST_NAME`. */
const given = (settings: object, paths: RegExp) =>
  settingDocs().flatMap(({ path, env }) =>
    paths.test(path) && (settingIn(settings, path) ?? '') !== '' ? [`${path}: ${env}`] : [],
  );

const variableIn = (named: string): string => named.replace(/^.*: /, '');

/** An identity is used for something, and what is used with one has one (D365). */
function identity(settings: Settings | MethodsSettings): string[] {
  const { kind, clientId } = settings.identity;
  const users = given(
    settings,
    /^(hub\.(eventsNamespace|hostName)|backends\.(informationModel|typeRegistry|principalManager)Scope|\w+\.accountUrl)$/,
  );
  if (kind === '')
    return [...users, ...given(settings, /^identity\.clientId$/)].map(
      (user) => `identity.kind: ${variableIn(user)} needs IDENTITY beside it`,
    );
  return those({
    'identity.kind: IDENTITY is not used: nothing has an address or a scope for it': users.length === 0,
    'identity.clientId: IDENTITY=developer has no IDENTITY_CLIENT_ID': kind === 'developer' && clientId !== '',
  });
}

const both = (path: string, one: string, other: string) =>
  `${path}: ${one} and ${other} are two ways to the same thing; remove one of them`;

/** The built-in endpoint by its connection string, or a routed event hub to which only the hub may send (D367). */
function events({ hub }: Settings): string[] {
  const { eventsConnectionString, eventsNamespace, eventsName, eventsSenders, serviceConnectionString } = hub;
  if (eventsNamespace === '')
    return those({
      'hub.eventsConnectionString: set HUB_EVENTS_CONNECTION_STRING, or HUB_EVENTS_NAMESPACE with IDENTITY; it may be left out beside HUB_SERVICE_CONNECTION_STRING':
        eventsConnectionString === '' && serviceConnectionString === '',
      'hub.eventsNamespace: HUB_EVENTS_NAME is not used without HUB_EVENTS_NAMESPACE': eventsName !== '',
      'hub.eventsNamespace: HUB_EVENTS_SENDERS is not used without HUB_EVENTS_NAMESPACE': eventsSenders !== '',
    });
  return those({
    [both('hub.eventsNamespace', 'HUB_EVENTS_CONNECTION_STRING', 'HUB_EVENTS_NAMESPACE')]:
      eventsConnectionString !== '',
    'hub.eventsName: HUB_EVENTS_NAMESPACE needs HUB_EVENTS_NAME beside it': eventsName === '',
    'hub.eventsSenders: an event hub is read only with HUB_EVENTS_SENDERS=hub-only, which says that nobody but the IoT hub may send to it: every other sender could name any device (docs/identity.md)':
      eventsSenders === '',
  });
}

const service = ({ hub: { serviceConnectionString, hostName } }: Settings | MethodsSettings): string[] =>
  those({
    [both('hub.hostName', 'HUB_SERVICE_CONNECTION_STRING', 'HUB_HOST_NAME')]:
      serviceConnectionString !== '' && hostName !== '',
    'hub.serviceConnectionString: set HUB_SERVICE_CONNECTION_STRING, or HUB_HOST_NAME with IDENTITY':
      serviceConnectionString === '' && hostName === '',
  });

/** What the clients of the hub cannot do (D405, D406, D409). */
function transport({ hub, network }: Settings): string[] {
  if (hub.transport === 'websockets')
    return those({
      'hub.transport: HUB_TRANSPORT=websockets has TLS, and UseDevelopmentEmulator=true in HUB_EVENTS_CONNECTION_STRING has none; remove one of them':
        isPlain(hub.eventsConnectionString),
    });
  const addresses = amqpAddresses(hub);
  return those({
    'hub.transport: AMQP at port 5671 passes no proxy, and HTTPS_PROXY leads to the hub; set HUB_TRANSPORT=websockets, or name the hosts of the hub in NO_PROXY':
      addresses.some(isBehindProxy(network)),
    // The client takes such an address apart at its first colon.
    'hub.transport: an IPv6 address of the hub, other than [::1], needs HUB_TRANSPORT=websockets, or a name instead':
      addresses.map(hostOf).some((host) => isIP(host) === 6 && host !== '::1'),
  });
}

/** Where AMQP goes to, as URLs; those that are set. */
function amqpAddresses(hub: Settings['hub']) {
  const events = hub.eventsNamespace || partOf(hub.eventsConnectionString, 'Endpoint').replace(/^sb:\/\//, '');
  const service = hub.hostName || partOf(hub.serviceConnectionString, 'HostName');
  const urls = [isPlain(hub.eventsConnectionString) ? '' : events, service].map((place) => `https://${place}`);
  return urls.filter((url) => URL.canParse(url)).map((url) => new URL(url));
}

/** AMQP without TLS, which an emulator on this machine speaks. */
const isPlain = (connectionString: string): boolean => partOf(connectionString, 'UseDevelopmentEmulator') === 'true';

function isBehindProxy(network: Settings['network']): (address: URL) => boolean {
  const variables = proxiesIn(network);
  if ([variables.https, variables.http].some((text) => text !== '' && proxyProblem(text) !== undefined))
    return () => false;
  const proxyOf = createProxyOf(variables);
  return (address) => proxyOf(address) !== undefined;
}

/** Backends without a scope of their own share a token. */
function token(settings: Settings | MethodsSettings): string[] {
  const { backends } = settings;
  const { token, tokenUrl, clientId, clientSecret } = backends;
  const scopes = [
    ...[backends.informationModelScope, backends.typeRegistryScope],
    ...('principalManagerScope' in backends ? [backends.principalManagerScope] : []),
  ];
  if (!scopes.includes(''))
    return given(settings, /^backends\.(token|tokenUrl|clientSecret)$/).map(
      (unused) =>
        `backends.token: ${variableIn(unused)} is not used: every backend has a scope for IDENTITY; remove it`,
    );
  return those({
    'backends.token: set BACKENDS_TOKEN, or BACKENDS_TOKEN_URL with BACKENDS_CLIENT_ID and BACKENDS_CLIENT_SECRET, or a scope of each backend with IDENTITY':
      token === '' && tokenUrl === '',
    'backends.token: BACKENDS_TOKEN and BACKENDS_TOKEN_URL are two ways to get a token; remove one of them':
      token !== '' && tokenUrl !== '',
    'backends.tokenUrl: needs BACKENDS_CLIENT_ID and BACKENDS_CLIENT_SECRET beside it':
      token === '' && tokenUrl !== '' && (clientId === '' || clientSecret === ''),
  });
}

/** The groups that name the same account twice. */
const accountTwice = (settings: object, groups: readonly string[]): string[] =>
  groups.flatMap((group) => {
    const [one, other] = given(settings, new RegExp(`^${group}\\.(connectionString|accountUrl)$`)).map(variableIn);
    return one && other ? [both(`${group}.accountUrl`, one, other)] : [];
  });

/** What is kept in files needs no account, and what is kept in blobs has one (D292). */
function store(settings: Settings): string[] {
  const { store, checkpoints, deadLetters } = settings;
  const twice = accountTwice(settings, ['store', 'checkpoints', 'deadLetters']);
  const unused = given(settings, /^(store|checkpoints|deadLetters)\.(connectionString|accountUrl)$/);
  if (store.kind !== 'blob')
    return [...twice, ...unused.map((name) => `${name} is not used with STORE=file; remove it, or set STORE=blob`)];
  const isAnyNowhere = [checkpoints, deadLetters].some((own) => isNowhere(accountOf(own, store)));
  const nowhere = 'store.kind: STORE=blob needs STORE_CONNECTION_STRING beside it, or STORE_ACCOUNT_URL with IDENTITY';
  return [...twice, ...those({ [nowhere]: isAnyNowhere })];
}

const ports = ({ methods: { port }, http, admin }: MethodsSettings): string[] =>
  those({
    'methods.port: METHODS_PORT and HTTP_PORT must differ: health has a port of its own':
      port !== 0 && port === http.port,
    'methods.port: METHODS_PORT and ADMIN_PORT must differ': port !== 0 && port === admin.port,
  });

/** Without a token only programs on this machine may reach the admin port (D100). */
const admin = ({ admin: { host, port, token }, http }: Pick<Settings, 'admin' | 'http'>): string[] =>
  those({
    'admin.token: ADMIN_HOST is an address that other machines can reach, which needs ADMIN_TOKEN beside it':
      token === '' && !isLoopback(host),
    'admin.port: ADMIN_PORT and HTTP_PORT must differ': port !== 0 && port === http.port,
  });

const certificate = ({ methods: { tlsCertificateFile, tlsKeyFile } }: MethodsSettings): string[] =>
  those({
    'methods.tlsCertificateFile: METHODS_TLS_CERTIFICATE_FILE and METHODS_TLS_KEY_FILE need each other':
      (tlsCertificateFile === '') !== (tlsKeyFile === ''),
  });

function files(settings: MethodsSettings): string[] {
  const { files, store, checkpoints, deadLetters } = settings;
  const { container } = files;
  if (container === '')
    return given(settings, /^files\.(connectionString|accountUrl|tenantClaim)$/).map(
      (unused) => `${unused} is not used without METHODS_FILES_CONTAINER`,
    );
  const taken = 'files.container: METHODS_FILES_CONTAINER must not have the name in';
  return [
    ...accountTwice(settings, ['store', 'files']),
    ...those({
      // Compares only the names, not the accounts: one account can be written in several ways (M9).
      [`${taken} CHECKPOINTS_CONTAINER`]: checkpoints.container === container,
      [`${taken} DEAD_LETTERS_CONTAINER`]: deadLetters.container === container,
      'files.container: METHODS_FILES_CONTAINER needs STORE_CONNECTION_STRING with the account’s key, METHODS_FILES_CONNECTION_STRING, or STORE_ACCOUNT_URL with IDENTITY':
        isNowhere(files) && store.accountUrl === '' && !hasAccountKey(store.connectionString),
    }),
  ];
}
