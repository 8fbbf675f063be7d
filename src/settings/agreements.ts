import { isLoopback } from './formats.ts';
import type { MethodsSettings, Settings } from './schema.ts';

/** Checks across settings. One sentence for each fault, without values of secrets. */
export const disagreements = (settings: Settings): string[] =>
  [token(settings), checkpoints(settings), deadLetters(settings), admin(settings)].flat();

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

function checkpoints(settings: Settings): string[] {
  const { store, connectionString } = settings.checkpoints;
  if (store === 'blob') {
    return connectionString === '' ? ['checkpoints.store: blob needs CHECKPOINTS_CONNECTION_STRING beside it'] : [];
  }
  return connectionString !== '' && !lendsToDeadLetters(settings)
    ? [`checkpoints.connectionString: not used with CHECKPOINTS_STORE=${store}; remove it, or set the store to blob`]
    : [];
}

function deadLetters(settings: Settings): string[] {
  const { store, connectionString } = settings.deadLetters;
  if (lendsToDeadLetters(settings) && settings.checkpoints.connectionString === '') {
    return [
      'deadLetters.store: blob needs DEAD_LETTERS_CONNECTION_STRING, or CHECKPOINTS_CONNECTION_STRING, beside it',
    ];
  }
  return store !== 'blob' && connectionString !== ''
    ? [`deadLetters.connectionString: not used with DEAD_LETTERS_STORE=${store}; remove it, or set the store to blob`]
    : [];
}

const lendsToDeadLetters = ({ deadLetters: { store, connectionString } }: Settings): boolean =>
  store === 'blob' && connectionString === '';

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

/** Compares only the names, not the accounts: one account can be written in several ways (M9). */
function files({ files: { connectionString, container, tenantClaim }, checkpoints, deadLetters }: MethodsSettings) {
  const others = { CHECKPOINTS_CONTAINER: checkpoints.container, DEAD_LETTERS_CONTAINER: deadLetters.container };
  const taken = Object.entries(others).filter(([, name]) => name === container);
  return [
    ...taken.map(([name]) => `files.container: METHODS_FILES_CONTAINER must not have the name in ${name}`),
    ...((connectionString === '') !== (container === '')
      ? ['files.container: METHODS_FILES_CONNECTION_STRING and METHODS_FILES_CONTAINER need each other']
      : []),
    ...(tenantClaim !== '' && container === ''
      ? ['files.tenantClaim: METHODS_FILES_TENANT_CLAIM is not used without METHODS_FILES_CONTAINER']
      : []),
  ];
}
