import { isIP } from 'node:net';
import { createProxies, hostOf, proxyProblem } from 'telemetry/network/proxies.ts';
import { proxiesIn } from './proxies.ts';
import type { Settings } from './table.ts';

const part = (connectionString: string, name: string): string =>
  new RegExp(`(?:^|;)\\s*${name}=([^;]+)`).exec(connectionString)?.[1]?.trim() ?? '';

/** Where AMQP goes to, as URLs; those that are set. */
function amqpAddresses({
  eventsConnectionString,
  eventsNamespace,
  serviceConnectionString,
  hostName,
}: Settings['hub']) {
  const events = eventsNamespace || part(eventsConnectionString, 'Endpoint').replace(/^sb:\/\//, '');
  const places = [isPlain(eventsConnectionString) ? '' : events, hostName || part(serviceConnectionString, 'HostName')];
  return places.filter((place) => URL.canParse(`https://${place}`)).map((place) => new URL(`https://${place}`));
}

/** AMQP without TLS, which an emulator on this machine speaks. */
const isPlain = (connectionString: string): boolean => part(connectionString, 'UseDevelopmentEmulator') === 'true';

/** What the clients of the hub cannot do (D405, D406, D409). */
export function transportProblems({ hub, network }: Pick<Settings, 'hub' | 'network'>): string[] {
  if (hub.transport === 'websockets')
    return isPlain(hub.eventsConnectionString)
      ? [
          'hub.transport: HUB_TRANSPORT=websockets has TLS, and UseDevelopmentEmulator=true in HUB_EVENTS_CONNECTION_STRING has none; remove one of them',
        ]
      : [];
  const addresses = amqpAddresses(hub);
  return [
    ...(addresses.some(isBehindProxy(network))
      ? [
          'hub.transport: AMQP at port 5671 passes no proxy, and HTTPS_PROXY leads to the hub; set HUB_TRANSPORT=websockets, or name the hosts of the hub in NO_PROXY',
        ]
      : []),
    // The client takes such an address apart at its first colon.
    ...(addresses.map(hostOf).some((host) => isIP(host) === 6 && host !== '::1')
      ? [
          'hub.transport: an IPv6 address of the hub, other than [::1], needs HUB_TRANSPORT=websockets, or a name instead',
        ]
      : []),
  ];
}

function isBehindProxy(network: Settings['network']): (address: URL) => boolean {
  const variables = proxiesIn(network);
  if ([variables.https, variables.http].some((text) => text !== '' && proxyProblem(text) !== undefined))
    return () => false;
  const proxies = createProxies(variables);
  return (address) => proxies.of(address) !== undefined;
}
