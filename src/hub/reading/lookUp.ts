import { createHmac } from 'node:crypto';
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { Connection, type EventContext } from 'rhea-promise';
import { within } from '../../concurrency/waiting.ts';
import type { Settings } from '../../settings/config.ts';
import { amqpsPort, type HubLogin, hubLoginOf, hubNameOf } from '../../settings/derived.ts';
import { overWebSockets } from '../hubTransport.ts';

/** Where the events of a hub are read. A failover of the hub changes it. */
export interface EventEndpoint {
  /** Host name of the namespace; with the port, unless that is the usual one. */
  readonly namespace: string;
  /** Name of the event hub. */
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

/** For records and the log. */
export const nameOf = ({ namespace, eventHub }: EventEndpoint): string => `${namespace}/${eventHub}`;

/** As an operator would set it. The hub's policy and its key are valid at its event endpoint, too. */
export const connectionStringTo = (
  { namespace, eventHub }: EventEndpoint,
  { policy, key }: Pick<HubLogin, 'policy' | 'key'>,
): string => `Endpoint=sb://${namespace}/;SharedAccessKeyName=${policy};SharedAccessKey=${key};EntityPath=${eventHub}`;

/** Names have no case. */
export const isSameEndpoint = (a: EventEndpoint, b: EventEndpoint): boolean =>
  nameOf(a).toLowerCase() === nameOf(b).toLowerCase();

/** The settings as if an operator had set the endpoint that was found. */
export const settingsAt = <S extends Pick<Settings, 'hub'>>(settings: S, endpoint: EventEndpoint): S => ({
  ...settings,
  hub: {
    ...settings.hub,
    eventsConnectionString: connectionStringTo(endpoint, hubLoginOf(settings.hub.serviceConnectionString)),
  },
});

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

/**
 * Asks the hub where its events are read at this moment: it redirects a receiver of `messages/events` (D401; fact reading.redirect).
 * @param how to connect, beside the usual
 * @throws NoEndpoint
 */
export async function findEndpoint(
  hubConnectionString: string,
  answerMs: number,
  how: Pick<SecureContextOptions, 'ca'> = {},
): Promise<EventEndpoint> {
  const login = hubLoginOf(hubConnectionString);
  const { host, port, policy } = login;
  const resource = `${host}/messages/events`;
  const webSocketOptions = overWebSockets()?.connectionWebSockets(port === amqpsPort ? host : `${host}:${port}`);
  const connection = new Connection({
    ...how,
    ...{ transport: 'tls', host, hostname: host, port, reconnect: false },
    ...(webSocketOptions && { webSocketOptions }),
    ...{ username: `${policy}@sas.root.${hubNameOf(login)}`, password: signed(resource, login) },
  });
  try {
    const info = await within(redirection(connection, `amqps://${resource}/$management`), answerMs);
    const endpoint = endpointIn(info);
    if (endpoint === undefined) throw new NoEndpoint('the hub redirects to an address that cannot be understood', '');
    return endpoint;
  } catch (error) {
    throw noEndpointOf(error);
  } finally {
    void within(connection.close(), closesWithinMs)
      .catch(() => undefined)
      .then(() => breakOff(connection));
  }
}

/** The library closes only what has been opened: a socket that the hub leaves without an answer would stay. */
function breakOff(connection: Connection): void {
  const { socket }: { readonly socket?: Partial<Pick<Socket, 'destroy'>> } = Reflect.get(connection, '_connection');
  socket?.destroy?.();
}

/** The end of a link, as AMQP or the client tells it. */
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

/** A shared access signature of the hub's policy. */
function signed(resource: string, { policy, key }: HubLogin): string {
  const expiry = Math.ceil(Date.now() / 1000) + tokenSeconds;
  const name = encodeURIComponent(resource);
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(`${name}\n${expiry}`).digest('base64');
  return `SharedAccessSignature sr=${name}&sig=${encodeURIComponent(signature)}&se=${expiry}&skn=${encodeURIComponent(policy)}`;
}
