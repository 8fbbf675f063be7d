import { type Account, accountOf, isNowhere } from './derived.ts';
import { hasAccountKey, isLoopback } from './formats.ts';
import type { MethodsSettings, Settings } from './table.ts';
import { transportProblems } from './transportProblems.ts';

/** Checks across settings. One sentence for each fault, without values of secrets. */
export const settingDisagreements = (settings: Settings): string[] =>
  [
    ...[identity(settings), events(settings), service(settings), transportProblems(settings), token(settings)],
    ...[store(settings), admin(settings)],
  ].flat();

/** The same for the front door. */
export const methodsDisagreements = (settings: MethodsSettings): string[] =>
  [
    ...[identity(settings), service(settings), token(settings), ports(settings), certificate(settings)],
    ...[files(settings), admin(settings)],
  ].flat();

/** An identity is used for something, and what is used with one has one (D365). */
function identity(settings: Settings | MethodsSettings): string[] {
  const { kind, clientId } = settings.identity;
  const users = usersOfIdentity(settings);
  if (kind === '')
    return [...users, ...(clientId === '' ? [] : ['IDENTITY_CLIENT_ID'])].map(
      (name) => `identity.kind: ${name} needs IDENTITY beside it`,
    );
  return [
    ...(users.length === 0 ? ['identity.kind: IDENTITY is not used: nothing has an address or a scope for it'] : []),
    ...(kind === 'developer' && clientId !== ''
      ? ['identity.clientId: IDENTITY=developer has no IDENTITY_CLIENT_ID']
      : []),
  ];
}

/** The variables that ask for an identity. */
function usersOfIdentity(settings: Settings | MethodsSettings): string[] {
  const groups: Readonly<Record<string, Readonly<Record<string, unknown>>>> = settings;
  const names: readonly (readonly [group: string, name: string, variable: string])[] = [
    ['hub', 'eventsNamespace', 'HUB_EVENTS_NAMESPACE'],
    ['hub', 'hostName', 'HUB_HOST_NAME'],
    ['backends', 'informationModelScope', 'INFORMATION_MODEL_SCOPE'],
    ['backends', 'typeRegistryScope', 'TYPE_REGISTRY_SCOPE'],
    ['backends', 'principalManagerScope', 'PRINCIPAL_MANAGER_SCOPE'],
    ['store', 'accountUrl', 'STORE_ACCOUNT_URL'],
    ['checkpoints', 'accountUrl', 'CHECKPOINTS_ACCOUNT_URL'],
    ['deadLetters', 'accountUrl', 'DEAD_LETTERS_ACCOUNT_URL'],
    ['files', 'accountUrl', 'METHODS_FILES_ACCOUNT_URL'],
  ];
  return names.filter(([group, name]) => (groups[group]?.[name] ?? '') !== '').map(([, , variable]) => variable);
}

const both = (path: string, one: string, other: string) =>
  `${path}: ${one} and ${other} are two ways to the same thing; remove one of them`;

/** The built-in endpoint by its connection string, or a routed event hub to which only the hub may send (D367). */
function events({ hub }: Settings): string[] {
  const { eventsConnectionString, eventsNamespace, eventsName, eventsSenders, serviceConnectionString } = hub;
  if (eventsNamespace === '') {
    const unused = { HUB_EVENTS_NAME: eventsName, HUB_EVENTS_SENDERS: eventsSenders };
    return [
      ...(eventsConnectionString === '' && serviceConnectionString === ''
        ? [
            'hub.eventsConnectionString: set HUB_EVENTS_CONNECTION_STRING, or HUB_EVENTS_NAMESPACE with IDENTITY; it may be left out beside HUB_SERVICE_CONNECTION_STRING',
          ]
        : []),
      ...Object.entries(unused).flatMap(([name, value]) =>
        value === '' ? [] : [`hub.eventsNamespace: ${name} is not used without HUB_EVENTS_NAMESPACE`],
      ),
    ];
  }
  return [
    ...(eventsConnectionString === ''
      ? []
      : [both('hub.eventsNamespace', 'HUB_EVENTS_CONNECTION_STRING', 'HUB_EVENTS_NAMESPACE')]),
    ...(eventsName === '' ? ['hub.eventsName: HUB_EVENTS_NAMESPACE needs HUB_EVENTS_NAME beside it'] : []),
    ...(eventsSenders === ''
      ? [
          'hub.eventsSenders: an event hub is read only with HUB_EVENTS_SENDERS=hub-only, which says that nobody but the IoT hub may send to it: every other sender could name any device (docs/identity.md)',
        ]
      : []),
  ];
}

function service({ hub: { serviceConnectionString, hostName } }: Settings | MethodsSettings): string[] {
  if (serviceConnectionString !== '' && hostName !== '')
    return [both('hub.hostName', 'HUB_SERVICE_CONNECTION_STRING', 'HUB_HOST_NAME')];
  return serviceConnectionString === '' && hostName === ''
    ? ['hub.serviceConnectionString: set HUB_SERVICE_CONNECTION_STRING, or HUB_HOST_NAME with IDENTITY']
    : [];
}

/** Backends without a scope of their own share a token. */
function token({ backends }: Settings | MethodsSettings): string[] {
  const { token, tokenUrl, clientId, clientSecret } = backends;
  const scopes = [
    ...[backends.informationModelScope, backends.typeRegistryScope],
    ...('principalManagerScope' in backends ? [backends.principalManagerScope] : []),
  ];
  const isNeeded = scopes.includes('');
  if (!isNeeded) {
    const others = { BACKENDS_TOKEN: token, BACKENDS_TOKEN_URL: tokenUrl, BACKENDS_CLIENT_SECRET: clientSecret };
    return Object.entries(others).flatMap(([name, value]) =>
      value === '' ? [] : [`backends.token: ${name} is not used: every backend has a scope for IDENTITY; remove it`],
    );
  }
  if (token === '' && tokenUrl === '') {
    return [
      'backends.token: set BACKENDS_TOKEN, or BACKENDS_TOKEN_URL with BACKENDS_CLIENT_ID and BACKENDS_CLIENT_SECRET, or a scope of each backend with IDENTITY',
    ];
  }
  if (token !== '' && tokenUrl !== '')
    return ['backends.token: BACKENDS_TOKEN and BACKENDS_TOKEN_URL are two ways to get a token; remove one of them'];
  return tokenUrl !== '' && (clientId === '' || clientSecret === '')
    ? ['backends.tokenUrl: needs BACKENDS_CLIENT_ID and BACKENDS_CLIENT_SECRET beside it']
    : [];
}

/** What names the same account twice. */
const accountTwice = (path: string, { connectionString, accountUrl }: Account, name: string): string[] =>
  connectionString !== '' && accountUrl !== ''
    ? [both(`${path}.accountUrl`, `${name}_CONNECTION_STRING`, `${name}_ACCOUNT_URL`)]
    : [];

/** What is kept in files needs no account, and what is kept in blobs has one (D292). */
function store({ store, checkpoints, deadLetters }: Settings): string[] {
  const twice = [
    ...accountTwice('store', store, 'STORE'),
    ...accountTwice('checkpoints', checkpoints, 'CHECKPOINTS'),
    ...accountTwice('deadLetters', deadLetters, 'DEAD_LETTERS'),
  ];
  if (store.kind === 'blob') {
    const without = [checkpoints, deadLetters].filter((one) => isNowhere(accountOf(one, store)));
    return without.length === 0
      ? twice
      : [
          ...twice,
          'store.kind: STORE=blob needs STORE_CONNECTION_STRING beside it, or STORE_ACCOUNT_URL with IDENTITY',
        ];
  }
  const given = {
    store: [store, 'STORE'],
    checkpoints: [checkpoints, 'CHECKPOINTS'],
    deadLetters: [deadLetters, 'DEAD_LETTERS'],
  } as const;
  const unused = Object.entries(given).flatMap(([path, [{ connectionString, accountUrl }, name]]) => [
    ...(connectionString !== '' ? [`${path}.connectionString: ${name}_CONNECTION_STRING`] : []),
    ...(accountUrl === '' ? [] : [`${path}.accountUrl: ${name}_ACCOUNT_URL`]),
  ]);
  return [...twice, ...unused.map((name) => `${name} is not used with STORE=file; remove it, or set STORE=blob`)];
}

function ports({ methods, http, admin }: MethodsSettings): string[] {
  const taken = (port: number) => methods.port !== 0 && methods.port === port;
  return [
    ...(taken(http.port) ? ['methods.port: METHODS_PORT and HTTP_PORT must differ: health has a port of its own'] : []),
    ...(taken(admin.port) ? ['methods.port: METHODS_PORT and ADMIN_PORT must differ'] : []),
  ];
}

/** Without a token only programs on this machine may reach the admin port (D100). */
function admin({ admin: { host, port, token }, http }: Pick<Settings, 'admin' | 'http'>): string[] {
  return [
    ...(token === '' && !isLoopback(host)
      ? ['admin.token: ADMIN_HOST is an address that other machines can reach, which needs ADMIN_TOKEN beside it']
      : []),
    ...(port !== 0 && port === http.port ? ['admin.port: ADMIN_PORT and HTTP_PORT must differ'] : []),
  ];
}

function certificate({ methods: { tlsCertificateFile, tlsKeyFile } }: MethodsSettings): string[] {
  return (tlsCertificateFile === '') !== (tlsKeyFile === '')
    ? ['methods.tlsCertificateFile: METHODS_TLS_CERTIFICATE_FILE and METHODS_TLS_KEY_FILE need each other']
    : [];
}

function files({ files, store, checkpoints, deadLetters }: MethodsSettings): string[] {
  const { connectionString, accountUrl, container, tenantClaim } = files;
  const twice = [...accountTwice('store', store, 'STORE'), ...accountTwice('files', files, 'METHODS_FILES')];
  if (container === '') {
    const others = {
      'files.connectionString: METHODS_FILES_CONNECTION_STRING': connectionString,
      'files.accountUrl: METHODS_FILES_ACCOUNT_URL': accountUrl,
      'files.tenantClaim: METHODS_FILES_TENANT_CLAIM': tenantClaim,
    };
    const unused = Object.entries(others).filter(([, value]) => value !== '');
    return unused.map(([name]) => `${name} is not used without METHODS_FILES_CONTAINER`);
  }
  // Compares only the names, not the accounts: one account can be written in several ways (M9).
  const others = { CHECKPOINTS_CONTAINER: checkpoints.container, DEAD_LETTERS_CONTAINER: deadLetters.container };
  const taken = Object.entries(others).filter(([, name]) => name === container);
  return [
    ...twice,
    ...taken.map(([name]) => `files.container: METHODS_FILES_CONTAINER must not have the name in ${name}`),
    ...(isNowhere(files) && store.accountUrl === '' && !hasAccountKey(store.connectionString)
      ? [
          'files.container: METHODS_FILES_CONTAINER needs STORE_CONNECTION_STRING with the account’s key, METHODS_FILES_CONNECTION_STRING, or STORE_ACCOUNT_URL with IDENTITY',
        ]
      : []),
  ];
}
