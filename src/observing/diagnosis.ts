import { isProxyFault, proxyAdvice } from '@device-messaging/telemetry/outbound.ts';

// What a fault means for an operator: by its place and its code, the setting to look at, and what to do.

/** For who is told that the platform has given no token. */
export const noTokenTodo = 'look at the line identity.no_token, which says why';

export type Remedy = { readonly setting: string; readonly todo: string };

/** What to do, with the codes for which it helps: the first that fits counts. */
export type Todos = Readonly<Record<string, RegExp>>;

export const foundIn = (table: Todos, code: string) => Object.entries(table).find(([, codes]) => codes.test(code))?.[0];

/** By the codes of the operating system and of TLS, or our own time-out; `{compare}` is where the host is named. */
const absences: Todos = {
  'there is no such host: {compare}': /^(ENOTFOUND|EAI_AGAIN)$/,
  'nobody answers there: {compare}, or wait until it is back':
    /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|TooLate)$/,
  'its certificate is not trusted: NETWORK_CA_FILE must name the authority, which a proxy that looks into TLS has too':
    /SELF_SIGNED_CERT|^CERT_UNTRUSTED$|^UNABLE_TO_(GET_ISSUER_CERT|VERIFY_LEAF_SIGNATURE)/,
  'its certificate is that of another host: {compare}': /^ERR_TLS_CERT_ALTNAME_INVALID$/,
  'its certificate is out of date: compare the clock of this machine': /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
  'what is there breaks the connection off: {compare}, and look for a proxy or a firewall between':
    /^(ECONNRESET$|EPROTO$|ERR_SSL_)/,
};

/** Whether it is a fault of the proxy, of what is trusted, or of the clock, and of no setting that names the host. */
const isBesideHost = (code: string) => isProxyFault(code) || foundIn(absences, code)?.includes('{compare}') === false;

/** What to do about a failure without an answer, if its code tells the cause. @param compare what names the host, and with what to compare it */
const todoOf = (code: string, compare: string): string | undefined =>
  foundIn(absences, code)?.replace('{compare}', () => compare) ?? (isProxyFault(code) ? proxyAdvice[code] : undefined);

export const todoOrWait = (code: string, compare: string) =>
  todoOf(code, compare) ?? `${compare}, or wait until it is back`;

/** Whether it does not pass by itself: a certificate, or the rules of a proxy, must be mended. */
export const isLasting = (code: string): boolean => /CERT|ISSUER|SIGNATURE|EPROXY(AUTH|REFUSED)/.test(code);

/** What an error says, with its code, which errors of TLS have beside their message. */
export const saidOf = ({ message, code = '' }: NodeJS.ErrnoException): string =>
  message.includes(code) ? message : `${message} (${code})`.trim();

/** The operating system opens nothing more for this process, or for all of this machine. */
export const tooManyFiles = 'too many open files';

const ownLimit: Remedy = {
  setting: 'ulimit -n',
  todo: 'the limit is that of this process (EMFILE) or machine (ENFILE), not of what it connects to: raise it, and look at what keeps connections open',
};

/** Fields that take the place of those of a diagnosis: the other side is not to blame. None for any other code or failure. */
export const ownLimitOf = (code: string): Partial<Remedy> =>
  code === 'EMFILE' || code === 'ENFILE' || code === tooManyFiles ? ownLimit : {};

/** Tokens are good for an hour, signatures of storage for a quarter of one: less does no harm. */
const harmfulMs = 5 * 60_000;

const synchronise = 'synchronise the clock of this machine (NTP)';

/**
 * What to do about a refused token or signature. A wrong key and a clock that is behind, whose tokens have expired, are refused alike.
 * @param mend what to do about the key, or the rights
 * @param said the words of the refusal; those of AMQP may tell the time: `Timestamp:2026-01-02T03:04:05`
 * @param date the header of that name, if there is one
 */
export function keyOrClock(mend: string, said = '', date = ''): string {
  const behindMs = toldTime(date || (/\btimestamp: ?([\d/:T -]+)/i.exec(said)?.[1] ?? '')) - Date.now();
  if (Number.isNaN(behindMs))
    return /expired/i.test(said)
      ? `${synchronise}: a token that has just been made counts as expired. If it is right, ${mend}`
      : `${mend}; or ${synchronise}: with a wrong one, tokens are refused too`;
  if (Math.abs(behindMs) < harmfulMs) return mend;
  const side = behindMs > 0 ? 'behind' : 'ahead of';
  return `${synchronise}: it is ${Math.round(Math.abs(behindMs) / 1000)} s ${side} theirs. If that does not help, ${mend}`;
}

/** In UTC, whether it says so or not; NaN when it is no time. */
const toldTime = (text: string): number =>
  Date.parse(text.includes('GMT') ? text : text.includes('T') ? `${text.trim()}Z` : `${text} UTC`);

export interface ReadingDiagnosis {
  /** Errors of the same cause are one source of trouble. */
  readonly cause: string;
  readonly level: 'warn' | 'error';
  /** The setting to look at; absent when none is known to be wrong. */
  readonly setting?: string;
  readonly hubSaid: string;
  readonly todo: string;
  /** The hub has answered, so that a restart of the service would change nothing. */
  readonly isAnswer: boolean;
  /** The hub has nothing at the start position. */
  readonly refusesPosition?: true;
}

const connection = 'HUB_EVENTS_CONNECTION_STRING';
const mendCheckpoint =
  'if the hub was made anew or has failed over, stop the instances and remove the partition’s checkpoint to read it from HUB_START_POSITION';

const ofCheckpoints = /^(ForeignCheckpoint|UnreadableCheckpoint|OldInformation)$/;

/**
 * By our own errors, and by the codes of the client's for refusals by the hub, and what was asked for (facts access.wrong-key,
 * reading.no-such-group, reading.no-such-partition, reading.beyond-end).
 */
const readingTodos: Todos = {
  [mendCheckpoint]: /^(ForeignCheckpoint$|ArgumentError )/,
  'stop the instances and correct the checkpoint that is named, or remove it to read the partition from HUB_START_POSITION':
    /^UnreadableCheckpoint$/,
  'nothing yet: the hub is asked again': /^OldInformation$/,
  'SharedAccessKeyName and SharedAccessKey must be those of a policy of this hub that may listen (at an IoT hub: service connect)':
    /^UnauthorizedError /,
  'EntityPath must be the Event Hub-compatible name of the hub': /^MessagingEntityNotFoundError while looking$/,
  'create this consumer group at the hub, or name one that is there; if the hub has failed over, give Endpoint and EntityPath of the other one':
    /^MessagingEntityNotFoundError while reading$/,
  'the hub has no such partition any more: it was made anew with fewer. Restart the service to count them again':
    /^ArgumentOutOfRangeError /,
};
const blamed: Todos = {
  [connection]: /^(UnauthorizedError |MessagingEntityNotFoundError while looking$)/,
  HUB_CONSUMER_GROUP: /^MessagingEntityNotFoundError while reading$/,
};
const errors = /^(ForeignCheckpoint$|UnreadableCheckpoint$|ArgumentError )/;

/** @param asking for the properties of the hub, or for the events of a partition */
export function diagnoseReading(error: unknown, asking: 'looking' | 'reading'): ReadingDiagnosis {
  const { name, message, code: known } = innermost(error);
  const code = typeof known === 'string' ? known : '';
  const asked = ofCheckpoints.test(name) ? name : `${code} while ${asking}`;
  const mend = foundIn(readingTodos, asked);
  if (mend) {
    const setting = foundIn(blamed, asked);
    const todo = code === 'UnauthorizedError' ? keyOrClock(mend, message) : mend;
    const level = errors.test(asked) ? 'error' : 'warn';
    const said = { cause: asked, level, hubSaid: message, isAnswer: true } as const;
    return { ...said, ...(setting && { setting }), todo, ...(code === 'ArgumentError' && { refusesPosition: true }) };
  }
  const cause = code || name;
  const todo = todoOf(cause, 'compare Endpoint with that of the hub, which changes when the hub fails over');
  const meaning = todo ? { setting: connection, todo } : { todo: 'nothing, if it passes: the service tries again' };
  return { cause, level: 'warn', hubSaid: message || name, isAnswer: false, ...meaning, ...ownLimitOf(code) };
}

/** After its last retry the client wraps all errors into one without a useful message (SDK trap 17). */
function innermost(error: unknown): Error & { readonly code?: unknown } {
  if (error instanceof AggregateError && error.errors.length > 0) return innermost(error.errors[0]);
  return error instanceof Error ? error : new Error(String(error));
}

class HubFailure extends Error {
  override readonly name = 'HubFailure';
  readonly diagnosis: ReadingDiagnosis;

  constructor(cause: unknown, diagnosis = diagnoseReading(cause, 'looking')) {
    super(diagnosis.hubSaid, { cause });
    this.diagnosis = diagnosis;
  }
}

export const ofHub = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((error) => {
    throw new HubFailure(error);
  });

/** Undefined when the error comes from the store, not from the hub. */
export function diagnosisOf(error: unknown): ReadingDiagnosis | undefined {
  if (error instanceof HubFailure) return error.diagnosis;
  return error instanceof Error && ofCheckpoints.test(error.name) ? diagnoseReading(error, 'looking') : undefined;
}

/** What blames the connection string of the events means where another setting leads to them. */
function blaming(setting: string, right: string, otherwise: string, found: ReadingDiagnosis): ReadingDiagnosis {
  if (found.setting !== connection) return found;
  if (isBesideHost(found.cause)) return { ...found, setting };
  const isRefused = found.cause.startsWith('UnauthorizedError');
  return { ...found, setting, todo: isRefused ? keyOrClock(right, found.hubSaid) : otherwise };
}

/** What the same means when the hub is read with an identity. */
export function ofIdentity(found: ReadingDiagnosis): ReadingDiagnosis {
  if (found.cause === 'NoToken') return { ...found, setting: 'IDENTITY', todo: noTokenTodo };
  const right =
    'give the identity the role Azure Event Hubs Data Receiver at the event hub, and compare IDENTITY_EVENTS_SCOPE with its cloud (docs/identity.md)';
  const compare = 'compare HUB_EVENTS_NAMESPACE and HUB_EVENTS_NAME with the event hub to which the hub routes';
  return blaming('HUB_EVENTS_NAMESPACE', right, compare, found);
}

/** What an error of the endpoint means that was looked up: no setting names it. */
export const ofLookedUp =
  (hubName: string, consumerGroup: string) =>
  (found: ReadingDiagnosis): ReadingDiagnosis => {
    const { setting, ...rest } = found;
    if (setting === 'HUB_CONSUMER_GROUP') {
      const create = `az iot hub consumer-group create --hub-name ${hubName} --name '${consumerGroup}'`;
      const orCreate = `if it stays, HUB_CONSUMER_GROUP is missing at this endpoint: create it with ${create}`;
      return { ...rest, todo: `nothing, if the hub fails over: the endpoint is looked up again; ${orCreate}` };
    }
    const otherwise = `nothing, if it passes: the endpoint is looked up again; else ${compareService}`;
    return blaming(serviceConnection, ofPolicy, otherwise, found);
  };

const serviceConnection = 'HUB_SERVICE_CONNECTION_STRING';
const ofPolicy =
  'SharedAccessKeyName and SharedAccessKey must be those of a policy of this hub that has service connect';
const compareService = `compare HostName of ${serviceConnection} with that of the hub`;

export function diagnoseLookUp(error: unknown) {
  const isNoEndpoint = error instanceof Error && error.name === 'NoEndpoint';
  const { code = '', message }: NodeJS.ErrnoException = isNoEndpoint ? error : new Error(String(error));
  const isAnswer = code.includes(':');
  const mend = code === 'amqp:unauthorized-access' ? keyOrClock(ofPolicy, message) : todoOf(code, compareService);
  const wait = isAnswer
    ? 'if it stays, set HUB_EVENTS_CONNECTION_STRING'
    : 'nothing, if it passes: the hub is asked again';
  const found = { cause: code || 'NoEndpoint', setting: serviceConnection, hubSaid: message, todo: mend ?? wait };
  return { ...found, isAnswer, ...ownLimitOf(code) };
}

function endpointBy(isByIdentity: boolean) {
  const host = isByIdentity ? 'HUB_HOST_NAME' : 'HostName';
  return { setting: isByIdentity ? host : serviceConnection, host, compare: `compare ${host} with that of the hub` };
}

export function diagnoseService(error: unknown, isByIdentity = false) {
  const cause = causeOf(error);
  const { name, message } = cause;
  const kind = cause.constructor.name;
  if (name === 'NoToken') return { setting: 'IDENTITY', hubSaid: message, todo: noTokenTodo };
  const { setting, host, compare } = endpointBy(isByIdentity);
  const right = isByIdentity
    ? 'give the identity a role at this hub that may send messages, and compare IDENTITY_HUB_SCOPE with the cloud of the hub (docs/identity.md)'
    : ofPolicy;
  const code = 'code' in cause ? String(cause.code) : name;
  // The client reports nothing while an address does not answer, so that our own time-out comes first (SDK trap 5).
  const hubSaid = name === 'TooLate' ? 'nothing' : message || kind;
  // By the names of the client's errors (fact access.wrong-key). Any other error means that there was no answer.
  let todo = todoOf(code, compare) ?? `${compare}, or wait until hub and network are back`;
  if (kind === 'UnauthorizedError') todo = keyOrClock(right, hubSaid);
  if (kind === 'DeviceNotFoundError') todo = `${host} must be that of the IoT hub, not of its event endpoint`;
  return { setting, hubSaid, todo, ...ownLimitOf(code) };
}

/** Whether the hub has answered that this client may not connect. */
export const isRefusal = (error: unknown): boolean => causeOf(error).constructor.name === 'UnauthorizedError';

/** The client wraps the answer of the hub, or the error of the socket, in one that only says that it could not connect. */
function causeOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const { amqpError } = error as { amqpError?: unknown };
  return amqpError instanceof Error && amqpError !== error ? amqpError : error;
}

type MethodsFault = { readonly failure: string; readonly cause?: string; readonly date?: string };

export function diagnoseMethods({ failure, cause = '', date }: MethodsFault, isByKey: boolean): Remedy {
  const { setting, compare } = endpointBy(!isByKey);
  const right = isByKey ? ofPolicy : 'give the identity a role at this hub that may invoke methods (docs/identity.md)';
  if (failure === 'refused') return { setting, todo: keyOrClock(right, '', date) };
  return { setting, todo: todoOrWait(cause, compare), ...ownLimitOf(cause) };
}
