import { connectionOf } from './derived.ts';
import { hasAccountKey, isLoopback } from './formats.ts';
import type { MethodsSettings, Settings } from './schema.ts';

/** Checks across settings. One sentence for each fault, without values of secrets. */
export const settingDisagreements = (settings: Settings): string[] =>
  [token(settings), store(settings), admin(settings)].flat();

/** The same for the front door. */
export const methodsDisagreements = (settings: MethodsSettings): string[] =>
  [token(settings), ports(settings), certificate(settings), files(settings), admin(settings)].flat();

function token({ backends: { token, tokenUrl, clientId, clientSecret } }: Pick<MethodsSettings, 'backends'>): string[] {
  if (token === '' && tokenUrl === '') {
    return [
      'backends.token: set BACKENDS_TOKEN, or BACKENDS_TOKEN_URL with BACKENDS_CLIENT_ID and BACKENDS_CLIENT_SECRET',
    ];
  }
  if (token !== '' && tokenUrl !== '')
    return ['backends.token: BACKENDS_TOKEN and BACKENDS_TOKEN_URL are two ways to get a token; remove one of them'];
  return tokenUrl !== '' && (clientId === '' || clientSecret === '')
    ? ['backends.tokenUrl: needs BACKENDS_CLIENT_ID and BACKENDS_CLIENT_SECRET beside it']
    : [];
}

/** What is kept in files needs no account, and what is kept in blobs has one (D292). */
function store({ store, checkpoints, deadLetters }: Settings): string[] {
  const own = {
    'checkpoints.connectionString: CHECKPOINTS_CONNECTION_STRING': checkpoints,
    'deadLetters.connectionString: DEAD_LETTERS_CONNECTION_STRING': deadLetters,
  };
  if (store.kind === 'blob') {
    const without = Object.values(own).filter((one) => connectionOf(one, store) === '');
    return without.length === 0 ? [] : ['store.kind: STORE=blob needs STORE_CONNECTION_STRING beside it'];
  }
  const given = { 'store.connectionString: STORE_CONNECTION_STRING': store, ...own };
  return Object.entries(given)
    .filter(([, { connectionString }]) => connectionString !== '')
    .map(([name]) => `${name} is not used with STORE=file; remove it, or set STORE=blob`);
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
  const { connectionString, container, tenantClaim } = files;
  if (container === '') {
    const others = {
      'files.connectionString: METHODS_FILES_CONNECTION_STRING': connectionString,
      'files.tenantClaim: METHODS_FILES_TENANT_CLAIM': tenantClaim,
    };
    const unused = Object.entries(others).filter(([, value]) => value !== '');
    return unused.map(([name]) => `${name} is not used without METHODS_FILES_CONTAINER`);
  }
  // Compares only the names, not the accounts: one account can be written in several ways (M9).
  const others = { CHECKPOINTS_CONTAINER: checkpoints.container, DEAD_LETTERS_CONTAINER: deadLetters.container };
  const taken = Object.entries(others).filter(([, name]) => name === container);
  return [
    ...taken.map(([name]) => `files.container: METHODS_FILES_CONTAINER must not have the name in ${name}`),
    ...(connectionString === '' && !hasAccountKey(store.connectionString)
      ? [
          'files.container: METHODS_FILES_CONTAINER needs STORE_CONNECTION_STRING with the account’s key, or METHODS_FILES_CONNECTION_STRING',
        ]
      : []),
  ];
}
