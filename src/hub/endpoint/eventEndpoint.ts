import { amqpsPort, type HubLogin } from '../../settings/derived.ts';

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
  a.namespace.toLowerCase() === b.namespace.toLowerCase() && a.eventHub.toLowerCase() === b.eventHub.toLowerCase();
