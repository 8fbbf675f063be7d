import type { SecureContextOptions } from 'node:tls';
import { Connection, type EventContext } from 'rhea-promise';
import { createRepeating, within } from '../../concurrency/waiting.ts';
import { diagnoseLookUp } from '../../observing/diagnosis.ts';
import type { Log, Troubles } from '../../observing/log.ts';
import { storeFieldsOf } from '../../observing/storeFailure.ts';
import type { Settings } from '../../settings/config.ts';
import { amqpsPort, type HubLogin, hubLoginOf, hubNameOf } from '../../settings/derived.ts';
import type { CheckpointStore } from '../../stores/checkpointStore.ts';
import { overWebSockets } from '../hubTransport.ts';
import { SharedAccessSignature } from '../serviceSdk.ts';
import type { Consumer } from './consumer.ts';
import type { Leases } from './leases.ts';

/** Where the events of a hub are read. A failover of the hub changes it. */
export interface EventEndpoint {
  /** Host name of the namespace; with the port, unless that is the usual one. */
  readonly namespace: string;
  readonly eventHub: string;
}

/** The endpoint that a redirect names; undefined when it cannot be understood. */
export function endpointIn(info: unknown): EventEndpoint | undefined {
  const { hostname, address } = (info ?? {}) as { readonly hostname?: unknown; readonly address?: unknown };
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined;
  const { hostname: named, port, pathname } = new URL(address);
  const host = typeof hostname === 'string' && hostname !== '' ? hostname : named;
  const [, eventHub = ''] = pathname.split('/');
  if (!/^[\w.:[\]-]{1,255}$/.test(host) || !/^[\w.-]{1,260}$/.test(eventHub)) return undefined;
  return { namespace: ['', String(amqpsPort)].includes(port) ? host : `${host}:${port}`, eventHub };
}

export const nameOf = ({ namespace, eventHub }: EventEndpoint): string => `${namespace}/${eventHub}`;

/** As an operator would set it. The hub's policy and its key are valid at its event endpoint, too. */
export const connectionStringTo = (
  { namespace, eventHub }: EventEndpoint,
  { policy, key }: Pick<HubLogin, 'policy' | 'key'>,
): string => `Endpoint=sb://${namespace}/;SharedAccessKeyName=${policy};SharedAccessKey=${key};EntityPath=${eventHub}`;

/** For comparison: names have no case. */
const idOf = (endpoint: EventEndpoint): string => nameOf(endpoint).toLowerCase();

/** The settings as if an operator had set the endpoint that was found. */
export function settingsAt<S extends Pick<Settings, 'hub'>>(settings: S, endpoint: EventEndpoint): S {
  const eventsConnectionString = connectionStringTo(endpoint, hubLoginOf(settings.hub.serviceConnectionString));
  return { ...settings, hub: { ...settings.hub, eventsConnectionString } };
}

/** The hub has not named its event endpoint. The message has no key. */
export class NoEndpoint extends Error {
  override readonly name = 'NoEndpoint';
  /** AMQP's condition, or the code of the socket’s error; empty when there is none. */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** As long as those of the hub's clients: a clock that is behind by less does no harm. */
const tokenSeconds = 3_600;
const closesWithinMs = 1_000;

/** Where events are read at this moment: the hub redirects a receiver of `messages/events` (D401; fact reading.redirect). @throws NoEndpoint */
export async function findEndpoint(
  hubConnectionString: string,
  answerMs: number,
  how: Pick<SecureContextOptions, 'ca'> = {},
): Promise<EventEndpoint> {
  const login = hubLoginOf(hubConnectionString);
  const { host, port, policy, key } = login;
  const resource = `${host}/messages/events`;
  const expiry = Math.ceil(Date.now() / 1000) + tokenSeconds;
  const password = SharedAccessSignature.create(encodeURIComponent(resource), policy, key, expiry).toString();
  const webSocketOptions = overWebSockets()?.connectionWebSockets(port === amqpsPort ? host : `${host}:${port}`);
  const connection = new Connection({
    ...how,
    ...{ transport: 'tls', host, hostname: host, port, reconnect: false },
    ...(webSocketOptions && { webSocketOptions }),
    ...{ username: `${policy}@sas.root.${hubNameOf(login)}`, password },
  });
  try {
    const endpoint = endpointIn(await within(redirection(connection, `amqps://${resource}/$management`), answerMs));
    if (endpoint === undefined) throw new NoEndpoint('the hub redirects to an address that cannot be understood', '');
    return endpoint;
  } catch (error) {
    throw noEndpointOf(error);
  } finally {
    // The library closes only what has been opened: a socket that the hub leaves without an answer would stay.
    const breakOff = () => {
      const { socket }: { readonly socket?: { destroy?(): void } } = Reflect.get(connection, '_connection');
      socket?.destroy?.();
    };
    void within(connection.close(), closesWithinMs).then(breakOff, breakOff);
  }
}

type LinkEnd = { readonly info?: unknown } & {
  readonly [Name in 'condition' | 'description' | 'code' | 'name' | 'message']?: string;
};

/** @throws what the client throws, or the hub answers */
async function redirection(connection: Connection, address: string): Promise<unknown> {
  await connection.open();
  const end = await new Promise<LinkEnd | undefined>((resolve) => {
    // Listens from the beginning: the redirect can come in one packet with the answer to the attach.
    const onError = ({ receiver, session }: EventContext) => resolve(receiver?.error ?? session?.error);
    const source = { address };
    connection.createReceiver({ source, credit_window: 0, onError, onSessionError: onError }).catch(resolve);
  });
  if (end?.condition !== 'amqp:link:redirect') throw end ?? new Error('the hub ends the link without a reason');
  return end.info;
}

function noEndpointOf(error: unknown): NoEndpoint {
  if (error instanceof NoEndpoint) return error;
  const { condition, code, name, description, message } = error as LinkEnd;
  const known = condition ?? code ?? (name === 'TooLate' ? name : '');
  return new NoEndpoint(description || message || known || 'the hub ends the connection', known);
}

export type TakeEndpoint = ReturnType<typeof createEndpointLease>;

interface FoundOptions {
  /** @throws NoEndpoint */
  readonly lookUp: () => Promise<EventEndpoint>;
  readonly take: TakeEndpoint;
  readonly open: (endpoint: EventEndpoint) => Promise<Consumer>;
  /** The hub has failed over: the process is to stop, and the next one reads the other endpoint. */
  readonly moved: () => void;
  readonly limits: {
    /** The endpoint is looked up again when a partition has not been read for this time, and as often; */
    readonly unreadMs: number;
    /** and when no event has come for this time: it can be the silence of a failover, which looks like idleness. */
    readonly eventlessMs: number;
    /** The longest that an endpoint waits for instances which have work of the one before. */
    readonly othersMs: number;
  };
  readonly log: Log;
  readonly troubles: Pick<Troubles, 'raise' | 'clear'>;
}

const everyMs = 1_000;
const againMs = 5_000;
const notFound = 'looking up the event endpoint';
const notOpened = 'opening the event endpoint';

/** Reads the hub at the endpoint that it names, and notices when it names another one (D402; fact events.failover). */
export function readFoundEndpoint(options: FoundOptions): Consumer {
  const { lookUp, take, open, moved, limits, log, troubles } = options;
  let current: { readonly found: EventEndpoint; readonly consumer: Consumer } | undefined;
  let why = 'it is looked up';
  let askedAt = Number.NEGATIVE_INFINITY;
  let answeredAt = performance.now();
  let readAt = answeredAt;
  let heldSince: number | undefined;
  let isStopping = false;
  let movedAt: number | undefined;
  const repeating = createRepeating(step, () => everyMs);

  function isDue(now: number): boolean {
    const sinceAsked = now - askedAt;
    if (current === undefined) return sinceAsked >= againMs;
    if (current.consumer.missing().length === 0) readAt = now;
    const isOver = (ms: number, limitMs: number) => Math.min(ms, sinceAsked) >= limitMs;
    return isOver(now - readAt, limits.unreadMs) || isOver(current.consumer.eventlessMs(), limits.eventlessMs);
  }

  async function step(): Promise<void> {
    const now = performance.now();
    if (!isDue(now)) return;
    askedAt = now;
    const found = await lookUp().catch(couldNotLookUp);
    if (found === undefined) return;
    answeredAt = performance.now();
    troubles.clear(notFound);
    if (isStopping) return;
    if (current === undefined) await begin(found).catch(couldNotOpen);
    else if (idOf(current.found) !== idOf(found)) {
      movedAt = now;
      const fields = { from: nameOf(current.found), to: nameOf(found) };
      log.warn(fields, 'the hub has failed over: stopping, so that a new process reads its other event endpoint');
      moved();
    }
  }

  function couldNotLookUp(error: unknown): undefined {
    const { isAnswer, cause, ...diagnosis } = diagnoseLookUp(error);
    if (isAnswer) answeredAt = performance.now();
    why = `${diagnosis.hubSaid} (${diagnosis.setting})`;
    const message = 'the hub’s event endpoint cannot be looked up';
    troubles.raise(notFound, { level: 'warn', message, fields: { cause }, diagnosis });
  }

  async function begin(found: EventEndpoint): Promise<void> {
    heldSince ??= performance.now();
    if (!(await take(found, performance.now() - heldSince >= limits.othersMs))) {
      why = 'other instances have work of the endpoint before';
      return;
    }
    const consumer = await open(found);
    troubles.clear(notOpened);
    current = { found, consumer };
    readAt = performance.now();
    if (isStopping) return;
    log.info({ endpoint: nameOf(found) }, 'the hub’s event endpoint is found');
    consumer.start();
  }

  function couldNotOpen(error: unknown) {
    why = error instanceof Error ? error.message : String(error);
    const message = 'the hub’s event endpoint cannot be opened; trying again';
    troubles.raise(notOpened, { level: 'error', message, diagnosis: { err: error, ...storeFieldsOf(error) } });
  }

  const of = () => current?.consumer;

  return {
    start: repeating.start,
    missing: () => of()?.missing() ?? [`the hub’s event endpoint: ${why}`],
    silentForMs: () => of()?.silentForMs() ?? performance.now() - answeredAt,
    eventlessMs: () => of()?.eventlessMs() ?? Number.POSITIVE_INFINITY,
    waiting: () => of()?.waiting() ?? { messages: 0, partitions: [] },
    partitions: () => of()?.partitions() ?? [],
    elsewhere: () => of()?.elsewhere() ?? [],
    devices: (device) => of()?.devices(device) ?? [],
    stoodStill: (ms) => of()?.stoodStill(ms),
    lookForContact: () => of()?.lookForContact(),
    leftSince: (moment) => of()?.leftSince(moment) ?? 0,
    async stop() {
      isStopping = true;
      void repeating.stop(); // a look-up may take long
      await of()?.stop();
      if (current === undefined || movedAt === undefined) return;
      // A hand-over before the failover was noticed may have come too late for the next reader.
      const unfinished = current.consumer.leftSince(movedAt - limits.eventlessMs);
      const fields = { endpoint: nameOf(current.found), unfinished };
      if (unfinished > 0) log.warn(fields, 'messages were left unfinished at the endpoint that the hub has left');
    },
  };
}

/** @param records of the hub itself: the owner in its one record is an endpoint */
export function createEndpointLease(
  records: Pick<CheckpointStore, 'ownerships' | 'change'>,
  ownershipsAt: (endpoint: EventEndpoint) => Promise<Pick<Leases, 'look'>>,
  expiryMs: number,
) {
  async function isLeft(name: string): Promise<boolean> {
    const [namespace = '', eventHub = ''] = name.split('/');
    const ownerships = await ownershipsAt({ namespace, eventHub });
    return (await ownerships.look()).every(({ owner, unrenewedMs }) => owner === '' || unrenewedMs >= expiryMs);
  }

  /**
   * Takes the lease of the endpoint that the instances of a hub read, unless another instance owns a partition of the one that they have
   * read before: it may have earlier messages of the same devices (D402).
   * @param isForced takes it in any case
   * @returns whether the endpoint may be read
   */
  return async (endpoint: EventEndpoint, isForced: boolean): Promise<boolean> => {
    const owner = idOf(endpoint);
    const [seen] = await records.ownerships();
    if (seen?.owner === owner) return true;
    if (seen !== undefined && !isForced && !(await isLeft(seen.owner))) return false;
    const next = { partition: 'endpoint', owner, epoch: (seen?.epoch ?? 0) + 1, renewedAt: 0 };
    return (await records.change(seen, { ...next, wantedBy: '', wantedSince: 0 })) !== undefined;
  };
}
