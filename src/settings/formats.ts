import { proxyProblem } from '@device-messaging/telemetry/proxies.ts';
import type convict from 'convict';

/** Formats of settings. No message contains the value, which may be a secret. */

const wholeNumber = (text: string): number => (/^\d+$/.test(text) ? Number(text) : Number.NaN);

function require(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** A part of a connection string, `Key=value;Key=value`, whose values may contain `=`; empty without it. */
export const partOf = (connectionString: string, name: string): string =>
  new RegExp(`(?:^|;)\\s*${name}\\s*=([^;]+)`).exec(connectionString)?.[1]?.trim() ?? '';

const hasParts = (connectionString: string, ...names: readonly string[]): boolean =>
  names.every((name) => partOf(connectionString, name) !== '');

function requireParts(value: unknown, names: readonly string[], what: string): void {
  const missing = names.filter((name) => !hasParts(String(value), name));
  require(missing.length === 0, `is no ${what}: ${missing.join(', ')} missing`);
}

/** Whether only this machine can reach the address. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/.test(host);

function isHttpUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}

/** Whether signatures for single files can be made with it. The emulator's key is known to the client. */
export const hasAccountKey = (text: string): boolean => isEmulator(text) || hasParts(text, 'AccountName', 'AccountKey');

const isEmulator = (text: string): boolean => partOf(text, 'UseDevelopmentStorage') === 'true';

function requireStorage(value: unknown): void {
  const text = String(value);
  const what = 'AccountName and AccountKey, or BlobEndpoint and SharedAccessSignature, missing';
  const isComplete = hasAccountKey(text) || hasParts(text, 'BlobEndpoint', 'SharedAccessSignature');
  require(isComplete, `is no connection string of a storage account: ${what}`);
  if (isEmulator(text)) return;
  const endpoint = partOf(text, 'BlobEndpoint') || `${partOf(text, 'DefaultEndpointsProtocol') || 'https'}://storage`;
  const isPrivate = URL.canParse(endpoint) && (endpoint.startsWith('https:') || isLoopback(new URL(endpoint).hostname));
  require(isPrivate, 'would send its key’s signature without encryption: http is allowed for a storage on this machine only');
}

const only = (message: string, isRight: (value: unknown) => boolean): convict.Format => ({
  validate: (value) => require(isRight(value), message),
});

const matching = (message: string, form: RegExp): convict.Format =>
  only(message, (value) => typeof value === 'string' && form.test(value));

const optional = ({ validate }: convict.Format): convict.Format => ({
  validate: (value, setting) => (value === '' ? undefined : validate?.(value, setting)),
});

/** Tokens are sent there. */
const httpsUrl = only(
  'must be an https URL without credentials, query or fragment',
  (value) => isHttpUrl(value) && String(value).startsWith('https:'),
);
const scope = matching('must end with /.default', /^[\x21-\x7e]+\/\.default$/);
const container = matching(
  'must be 3 to 63 lower-case letters, digits and single hyphens',
  /^(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*$/,
);
const optionalText = matching('must be without control characters, line ends included', /^\P{Cc}*$/u);

const isCount = (value: unknown, least: number, most: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;

export const settingFormats: Record<string, convict.Format> = {
  count: {
    validate: (value, { minimum = 1, maximum }) =>
      require(isCount(value, minimum, maximum), `must be a whole number from ${minimum} to ${maximum}`),
    coerce: wholeNumber,
  },
  'count-or-none': {
    validate: (value, { maximum }) => require(isCount(value, 0, maximum), `must be a whole number up to ${maximum}`),
    coerce: wholeNumber,
  },
  flag: {
    ...only('must be true or false', (value) => typeof value === 'boolean'),
    coerce: (text: string) => (text === 'true' ? true : text === 'false' ? false : text),
  },
  'tcp-port': { ...only('must be a port from 0 to 65535', (value) => isCount(value, 0, 65_535)), coerce: wholeNumber },
  text: {
    validate(value, setting) {
      require(typeof value === 'string' && value !== '', 'must not be empty');
      optionalText.validate?.(value, setting);
    },
  },
  'optional-text': optionalText,
  'admin-token': optional(
    matching('must be at least 16 printable ASCII characters without spaces', /^[\x21-\x7e]{16,}$/),
  ),
  // The characters that a header can carry. RFC 6750 allows fewer.
  'bearer-token': matching(
    'must be printable ASCII without spaces or line ends: no HTTP header can carry the rest',
    /^[\x21-\x7e]*$/,
  ),
  'base-url': {
    validate(value) {
      require(value !== '', 'is not set; it is the base URL of a backend');
      require(isHttpUrl(value), 'must be an http or https URL without credentials, query or fragment');
    },
  },
  'optional-url': optional(only('must be an http or https URL without credentials or query', isHttpUrl)),
  'https-url': httpsUrl,
  'optional-https-url': optional(httpsUrl),
  'host-name': optional(
    matching(
      'must be a host name, without a scheme or a path',
      /^([a-z\d]([a-z\d.-]*[a-z\d])?|\[[a-f\d:.]+\])(:\d{1,5})?$/i,
    ),
  ),
  addresses: optional(
    matching(
      'must be host:port, with commas between several',
      /^ *([\w.-]+|\[[a-f\d:.]+\]):\d{1,5}( *, *([\w.-]+|\[[a-f\d:.]+\]):\d{1,5})* *$/i,
    ),
  ),
  proxy: optional({
    validate(value) {
      const problem = proxyProblem(String(value));
      require(problem === undefined, problem ?? '');
    },
  }),
  'token-scope': scope,
  'optional-token-scope': optional(scope),
  'events-connection-string': optional({
    validate(value) {
      const what = 'connection string of the hub’s event endpoint';
      requireParts(value, ['Endpoint', 'SharedAccessKeyName', 'SharedAccessKey', 'EntityPath'], what);
      const endpoint = partOf(String(value), 'Endpoint');
      require(URL.canParse(endpoint) && endpoint.startsWith('sb://'), `is no ${what}: Endpoint must begin with sb://`);
      const isPrivate =
        partOf(String(value), 'UseDevelopmentEmulator') !== 'true' ||
        isLoopback(new URL(endpoint.replace(/^sb:/, 'http:')).hostname);
      // The client does not check this itself (SDK trap).
      require(isPrivate, 'has UseDevelopmentEmulator=true, which means no encryption: allowed for a hub on this machine only');
    },
  }),
  'service-connection-string': optional({
    validate: (value) =>
      requireParts(value, ['HostName', 'SharedAccessKeyName', 'SharedAccessKey'], 'connection string of the hub'),
  }),
  'storage-connection-string': optional({ validate: requireStorage }),
  // Only the account's key can sign for a single file.
  'signing-connection-string': optional({
    validate(value) {
      requireStorage(value);
      require(hasAccountKey(String(value)), 'must have AccountName and AccountKey');
    },
  }),
  'container-name': container,
  'optional-container-name': optional(container),
};
