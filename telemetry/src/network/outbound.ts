import http, { type ClientRequest } from 'node:http';
import https from 'node:https';
import { Agent, type AgentConnectOpts } from 'agent-base';
import { createProxies, inUrl, type Proxies, type ProxyVariables } from './proxies.ts';
import { Tunnel } from './tunnel.ts';

/*
 * The proxies are those of the process, as its routes are those of the machine: set in one place, asked by every client
 * (D406). A client that nobody has thought of would otherwise go its own way.
 */

const none: Proxies = { of: () => undefined };
let proxies = none;
const tunnels = new Map<string, Tunnel>();

/** @throws TypeError for a proxy that `proxyProblem` refuses */
export function useProxies(variables: ProxyVariables): void {
  proxies = createProxies(variables);
  tunnels.clear(); // connections in use stay; those of another password are not used again
}

/** The way to an address through its proxy; undefined when it is reached directly. */
export function tunnelTo(address: URL): Tunnel | undefined {
  const proxy = proxies.of(address);
  if (proxy === undefined) return undefined;
  const known = tunnels.get(proxy.href) ?? new Tunnel(proxy);
  tunnels.set(proxy.href, known);
  return known;
}

/** Leads each request to its proxy, or directly; the connections are those of the agents behind it. */
class OutboundAgent extends Agent {
  readonly #isDirect: boolean;

  constructor(isDirect: boolean) {
    super({ keepAlive: true });
    this.#isDirect = isDirect;
  }

  connect(_request: ClientRequest, options: AgentConnectOpts) {
    const { host = '', port, secureEndpoint } = options;
    // Some clients leave the brackets of an IPv6 address, which only a URL has.
    const bare = host.replace(/^\[(.*)\]$/, '$1');
    Object.assign(options, { host: bare });
    const direct = secureEndpoint ? https.globalAgent : http.globalAgent;
    if (this.#isDirect) return direct;
    return tunnelTo(new URL(`${secureEndpoint ? 'https' : 'http'}://${inUrl(bare)}:${port}`)) ?? direct;
  }
}

/** For clients that use the HTTP of Node.js: instead of the proxies that their libraries may find by themselves. */
export const outboundAgent: Agent = new OutboundAgent(false);

/** For what is on this machine or beside it, as the platform that gives an identity its tokens. */
export const directAgent: Agent = new OutboundAgent(true);
