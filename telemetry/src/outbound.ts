import { EventEmitter } from 'node:events';
import http, { type ClientRequest } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { Agent, type AgentConnectOpts } from 'agent-base';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { createProxyOf, hostOf, inUrl, type ProxyVariables } from './proxies.ts';

const compareProxy = 'compare HTTPS_PROXY with the proxy, or wait until it is back';

/** What an operator can do, by what has kept the proxy from leading to an address. */
export const proxyAdvice = {
  EPROXYAUTH:
    'the proxy asks for credentials: put those that it accepts into HTTPS_PROXY, as http://user:password@proxy:3128',
  EPROXYREFUSED: 'have the proxy allow CONNECT to this address, or name the host in NO_PROXY',
  EPROXYSILENT: compareProxy,
  EPROXYDOWN: compareProxy,
};

type ProxyFault = keyof typeof proxyAdvice;

export const isProxyFault = (code: string): code is ProxyFault => Object.hasOwn(proxyAdvice, code);

/** The proxy has not led to an address. The message has no credentials. */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  readonly code: ProxyFault;

  constructor(message: string, code: ProxyFault, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/**
 * Connections through a proxy by CONNECT, with and without TLS behind it. The library waits for the answer of the proxy without
 * limit, and hands any other answer than 200 to its user as if it came from the address.
 */
export class Tunnel extends HttpsProxyAgent<string> {
  readonly #answerMs: number;

  /** @param withinMs a proxy that is busy answers late; one that is stuck holds its connection */
  constructor(proxy: URL, withinMs = 10_000) {
    super(proxy.href, { keepAlive: true });
    this.#answerMs = withinMs;
  }

  /** @throws ProxyFailure */
  override async connect(request: ClientRequest, options: AgentConnectOpts): Promise<Socket> {
    const proxy = `the proxy ${this.proxy.host}`;
    const place = `${inUrl(String(options.host))}:${options.port}`;
    let status: number | undefined;
    request.once('proxyConnect', ({ statusCode }: { readonly statusCode: number }) => {
      status = statusCode;
    });
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), this.#answerMs);
    try {
      const before = this.connectOpts;
      this.connectOpts = { ...before, signal: limit.signal };
      const connecting = super.connect(request, options); // reads the options before it returns
      this.connectOpts = before;
      const socket = await connecting;
      if (status === 200) return socket;
      socket.destroy();
    } catch (error) {
      if (limit.signal.aborted)
        throw new ProxyFailure(`${proxy} does not answer within ${this.#answerMs / 1000} s`, 'EPROXYSILENT');
      const { code, message } = error as NodeJS.ErrnoException;
      throw new ProxyFailure(`${proxy} cannot be used: ${code ?? message}`, 'EPROXYDOWN', error);
    } finally {
      clearTimeout(timer);
    }
    throw status === 407
      ? new ProxyFailure(`${proxy} asks for credentials that it accepts (HTTP 407)`, 'EPROXYAUTH')
      : new ProxyFailure(`${proxy} does not lead to ${place}: HTTP ${status}`, 'EPROXYREFUSED');
  }

  /** Without TLS, for clients that bring no request of their own. @throws ProxyFailure */
  async open(host: string, port: number): Promise<Socket> {
    const request = new EventEmitter() as ClientRequest;
    return this.connect(request, { host, port, secureEndpoint: false } as AgentConnectOpts);
  }
}

// The proxies are those of the process, as its routes are those of the machine: set in one place, asked by every client
// (D406). A client that nobody has thought of would otherwise go its own way.

let proxyOf = (_: URL): URL | undefined => undefined;
const tunnels = new Map<string, Tunnel>();

/** @throws TypeError for a proxy that `proxyProblem` refuses */
export function useProxies(variables: ProxyVariables): void {
  proxyOf = createProxyOf(variables);
  tunnels.clear(); // connections in use stay; those of another password are not used again
}

/** The way to an address through its proxy; undefined when it is reached directly. */
export function tunnelTo(address: URL): Tunnel | undefined {
  const proxy = proxyOf(address);
  if (proxy === undefined) return undefined;
  const tunnel = tunnels.get(proxy.href) ?? new Tunnel(proxy);
  tunnels.set(proxy.href, tunnel);
  return tunnel;
}

/** Leads each request to its proxy, or directly; the connections are those of the agents behind it. */
const agentBy = (wayTo: typeof tunnelTo): Agent =>
  new (class extends Agent {
    connect(_request: ClientRequest, options: AgentConnectOpts) {
      const { host = '', port, secureEndpoint } = options;
      // Some clients leave the brackets of an IPv6 address, which only a URL has.
      const bare = hostOf({ hostname: host });
      Object.assign(options, { host: bare });
      const direct = secureEndpoint ? https.globalAgent : http.globalAgent;
      return wayTo(new URL(`${secureEndpoint ? 'https' : 'http'}://${inUrl(bare)}:${port}`)) ?? direct;
    }
  })({ keepAlive: true });

/** For clients that use the HTTP of Node.js: instead of the proxies that their libraries may find by themselves. */
export const outboundAgent = agentBy(tunnelTo);

/** For what is on this machine or beside it, as the platform that gives an identity its tokens. */
export const directAgent = agentBy(() => undefined);
