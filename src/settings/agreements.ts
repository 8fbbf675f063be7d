import type { Settings } from './schema.ts';

/** What each setting alone allows may still make no sense together. One sentence for each fault, without any value of a secret. */
export function disagreements(settings: Settings, environment: string): string[] {
  return [
    token(settings),
    checkpoints(settings, environment),
    scaling(settings),
    signsOfLife(settings),
    deadLetters(settings),
  ].flat();
}

function token({ backends: { token, tokenUrl, clientId, clientSecret } }: Settings): string[] {
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

/** Where nothing happens, these are the only signs of life; `/livez` asks for a restart after five minutes without any. */
const mostBetweenSignsSeconds = 100;

function signsOfLife({ hub: { maxWaitSeconds }, scaling: { roundSeconds } }: Settings): string[] {
  const signs = { 'hub.maxWaitSeconds': maxWaitSeconds, 'scaling.roundSeconds': roundSeconds };
  return Object.entries(signs)
    .filter(([, seconds]) => seconds > mostBetweenSignsSeconds)
    .map(([name]) => `${name}: an idle instance would be taken for stuck; at most ${mostBetweenSignsSeconds}`);
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
