import { EventEmitter } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { AgentConnectOpts } from 'agent-base';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { inUrl } from './proxies.ts';

/** What has kept the proxy from leading to an address. */
export type ProxyFault = 'EPROXYAUTH' | 'EPROXYREFUSED' | 'EPROXYSILENT' | 'EPROXYDOWN';

const compareProxy = 'compare HTTPS_PROXY with the proxy, or wait until it is back';

/** What an operator can do about it. */
export const proxyAdvice: Readonly<Record<ProxyFault, string>> = {
  EPROXYAUTH:
    'the proxy asks for credentials: put those that it accepts into HTTPS_PROXY, as http://user:password@proxy:3128',
  EPROXYREFUSED: 'have the proxy allow CONNECT to this address, or name the host in NO_PROXY',
  EPROXYSILENT: compareProxy,
  EPROXYDOWN: compareProxy,
};

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

/** A proxy that is busy answers late; one that is stuck holds its connection. */
const answerMs = 10_000;

/** The answer to CONNECT. */
interface Answer {
  readonly statusCode: number;
}

/**
 * Connections through a proxy by CONNECT, with and without TLS behind it. The library waits for the answer of the proxy without
 * limit, and hands any other answer than 200 to its user as if it came from the address.
 */
export class Tunnel extends HttpsProxyAgent<string> {
  readonly #answerMs: number;

  constructor(proxy: URL, withinMs = answerMs) {
    super(proxy.href, { keepAlive: true });
    this.#answerMs = withinMs;
  }

  /** @throws ProxyFailure */
  override async connect(request: ClientRequest, options: AgentConnectOpts): Promise<Socket> {
    const proxy = `the proxy ${this.proxy.host}`;
    const place = `${inUrl(String(options.host))}:${options.port}`;
    let status: number | undefined;
    request.once('proxyConnect', (answer: Answer) => {
      status = answer.statusCode;
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

  /**
   * A connection without TLS to an address behind the proxy, for clients that bring no request of their own.
   * @throws ProxyFailure
   */
  async open(host: string, port: number): Promise<Socket> {
    const request = new EventEmitter() as ClientRequest;
    return this.connect(request, { host, port, secureEndpoint: false } as AgentConnectOpts);
  }
}
