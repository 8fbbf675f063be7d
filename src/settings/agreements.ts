import { mostToReserve } from '../protocol/body.ts';
import type { MethodsSettings, Settings } from './schema.ts';

/** What each setting alone allows may still make no sense together. One sentence for each fault, without any value of a secret. */
export function disagreements(settings: Settings, environment: string): string[] {
  return [
    token(settings),
    checkpoints(settings, environment),
    scaling(settings),
    deadLetters(settings),
    memory(settings),
  ].flat();
}

/** The same for the front door. */
export const methodsDisagreements = (settings: MethodsSettings): string[] =>
  [token(settings), ports(settings), certificate(settings), devices(settings), files(settings)].flat();

function token({ backends: { token, tokenUrl, clientId, clientSecret } }: Pick<MethodsSettings, 'backends'>): string[] {
  if (token === '' && tokenUrl === '') {
    return [
      'backends.token: set BACKENDS_TOKEN, or BACKENDS_TOKEN_URL with BACKENDS_CLIENT_ID and BACKENDS_CLIENT_SECRET',
    ];
  }
  return tokenUrl !== '' && (clientId === '' || clientSecret === '')
    ? ['backends.tokenUrl: needs BACKENDS_CLIENT_ID and BACKENDS_CLIENT_SECRET beside it']
    : [];
}

function checkpoints(settings: Settings, environment: string): string[] {
  const { store, connectionString } = settings.checkpoints;
  const problems: string[] = [];
  if (environment === 'production' && store === 'memory') {
    problems.push(
      'checkpoints.store: memory forgets all progress at a restart; production needs CHECKPOINTS_STORE=file or blob',
    );
  }
  if (store === 'blob' && connectionString === '') {
    problems.push('checkpoints.store: blob needs CHECKPOINTS_CONNECTION_STRING beside it');
  }
  if (store !== 'blob' && connectionString !== '' && !lendsToDeadLetters(settings)) {
    problems.push(`checkpoints.connectionString: of no use to CHECKPOINTS_STORE=${store}; is it to be blob?`);
  }
  return problems;
}

function scaling({ scaling: { roundSeconds, expirySeconds } }: Settings): string[] {
  const least = 3 * roundSeconds;
  return expirySeconds < least
    ? [
        `scaling.expirySeconds: an instance that misses a renewal would lose its partitions; SCALING_EXPIRY_SECONDS must be at least three times SCALING_ROUND_SECONDS, ${least}`,
      ]
    : [];
}

/** A message that could never have its room would wait for ever (R6). */
function memory({ delivery, messages }: Settings): string[] {
  const most = mostToReserve(messages.maxInflatedBytes);
  return (['maxBytes', 'partitionBytes'] as const)
    .filter((name) => delivery[name] < most)
    .map((name) => `delivery.${name}: one message may take ${most} bytes with the given MESSAGES_MAX_INFLATED_BYTES`);
}

function deadLetters(settings: Settings): string[] {
  const { store, connectionString } = settings.deadLetters;
  if (lendsToDeadLetters(settings) && settings.checkpoints.connectionString === '') {
    return [
      'deadLetters.store: blob needs DEAD_LETTERS_CONNECTION_STRING, or CHECKPOINTS_CONNECTION_STRING, beside it',
    ];
  }
  return store !== 'blob' && connectionString !== ''
    ? [`deadLetters.connectionString: of no use to DEAD_LETTERS_STORE=${store}; is it to be blob?`]
    : [];
}

const lendsToDeadLetters = ({ deadLetters: { store, connectionString } }: Settings): boolean =>
  store === 'blob' && connectionString === '';

function ports({ methods, http }: MethodsSettings): string[] {
  return methods.port !== 0 && methods.port === http.port
    ? ['methods.port: METHODS_PORT and HTTP_PORT must differ: health has a port of its own']
    : [];
}

function certificate({ methods: { tlsCertificateFile, tlsKeyFile } }: MethodsSettings): string[] {
  return (tlsCertificateFile === '') !== (tlsKeyFile === '')
    ? ['methods.tlsCertificateFile: METHODS_TLS_CERTIFICATE_FILE and METHODS_TLS_KEY_FILE need each other']
    : [];
}

function devices({ methods: { inFlight, inFlightPerDevice } }: MethodsSettings): string[] {
  return inFlightPerDevice > inFlight
    ? ['methods.inFlightPerDevice: METHODS_IN_FLIGHT_PER_DEVICE must not be above METHODS_IN_FLIGHT']
    : [];
}

/** The name alone decides, in any account: the same account can be written in several ways (M9). */
function files({ files: { connectionString, container, tenantClaim }, checkpoints, deadLetters }: MethodsSettings) {
  const others = { CHECKPOINTS_CONTAINER: checkpoints.container, DEAD_LETTERS_CONTAINER: deadLetters.container };
  const taken = Object.entries(others).filter(([, name]) => name === container);
  return [
    ...taken.map(([name]) => `files.container: METHODS_FILES_CONTAINER must not have the name in ${name}`),
    ...((connectionString === '') !== (container === '')
      ? ['files.container: METHODS_FILES_CONNECTION_STRING and METHODS_FILES_CONTAINER need each other']
      : []),
    ...(tenantClaim !== '' && container === ''
      ? ['files.tenantClaim: METHODS_FILES_TENANT_CLAIM is of no use without METHODS_FILES_CONTAINER']
      : []),
  ];
}
