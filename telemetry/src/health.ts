import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where to listen, with the names of the settings that say so. */
type Address = Readonly<{ host: string; port: number; settings: Record<'host' | 'port', string> }>;

/** The error of a server that can't listen, as a sentence with the setting to change. */
export function namingSetting(error: NodeJS.ErrnoException, { host, port, settings }: Address): Error {
  const { code } = error;
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `${settings.port}: port ${port} is in use by another program; set another port, or stop that program`,
    EACCES: `${settings.port}: this user may not open port ${port}; set one above 1023`,
    EADDRNOTAVAIL: `${settings.host}: ${host} is no address of this machine`,
    ENOTFOUND: `${settings.host}: ${host} is no address of this machine`,
  };
  const sentence = sentences[code ?? ''];
  return sentence === undefined ? error : Object.assign(new Error(sentence, { cause: error }), { code });
}

export type Listening = Awaited<ReturnType<typeof listen>>;

/**
 * How long a client may take; a connection that is over one of them is closed, so that others find room (D198). `headersMs`: for the headers
 * of a request, from the connection or the first byte on; `requestMs`: for the whole request; `answerMs`: from the headers of the request
 * until the client has read the answer; `idleMs`: between two requests.
 */
export type ClientLimits = Readonly<Record<'headersMs' | 'requestMs' | 'answerMs' | 'idleMs', number>>;

const usual: ClientLimits = { headersMs: 5_000, requestMs: 10_000, answerMs: 10_000, idleMs: 5_000 };
const checkEveryMs = 1_000;

/** @param takeTime lifts the limit of this answer */
type LimitedListener = (...given: [...Parameters<RequestListener>, takeTime: () => void]) => void;

/** A server, which does not listen yet, that waits for no client any longer than the limits say. */
export function createLimitedServer(listener: LimitedListener, limits = usual): Server {
  const { headersMs: headersTimeout, requestMs: requestTimeout, answerMs, idleMs: keepAliveTimeout } = limits;
  const timeouts = { headersTimeout, requestTimeout, keepAliveTimeout };
  const connectionsCheckingInterval = Math.min(checkEveryMs, headersTimeout);
  return createServer({ ...timeouts, connectionsCheckingInterval }, (request, response) => {
    const overdue = setTimeout(() => response.destroy(), answerMs).unref();
    const takeTime = () => clearTimeout(overdue);
    response.once('close', takeTime);
    listener(request, response, takeTime);
  });
}

/** @throws Error that names the setting when the address is not available */
export async function listen(server: Server, address: Address) {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(namingSetting(error, address)));
    server.listen(address.port, address.host, resolve);
  });
  return {
    /** The port that was chosen when any free one was asked for. */
    port: (server.address() as AddressInfo).port,
    /** Ends open requests, too. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Health {
  /** What it lacks to be ready, as texts; empty when it is ready. */
  missing(): readonly string[];
  /** What has been stuck so long that only a restart helps, as texts. A program without it lives while it responds. */
  stuck?(): readonly string[];
  /** Further members of the body of `/readyz`. */
  remarks?(): object;
  /** Text of `/metrics`, in the format of Prometheus; undefined when metrics are switched off. */
  readonly metrics?: (() => string | Promise<string>) | undefined;
}

/**
 * Serves `/livez`: the program makes progress; `/readyz`: it can do its work, otherwise lists what is missing; `/startupz`:
 * it has been ready once; and `/metrics`.
 * @throws Error that names the setting when the port is not available
 */
export async function serveHealth(
  address: Address,
  { missing, stuck = () => [], remarks = () => ({}), metrics }: Health,
  limits?: ClientLimits,
): Promise<Listening> {
  let hasBeenReady = false;
  function lacking(): readonly string[] {
    const waitingFor = missing();
    hasBeenReady ||= waitingFor.length === 0;
    return waitingFor;
  }

  const server = createLimitedServer((request, response) => {
    const path = request.url?.split('?', 1)[0];
    const respond = (status: number, body: object | string) => {
      const [type, text] =
        typeof body === 'string'
          ? ['text/plain; version=0.0.4; charset=utf-8', body]
          : ['application/json', `${JSON.stringify(body)}\n`];
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
      response.end(text); // without it for HEAD
    };
    const respondHealth = (well: string, waitingFor: readonly string[], more = {}) =>
      waitingFor.length === 0
        ? respond(200, { status: well, ...more })
        : respond(503, { status: `not ${well}`, waitingFor, ...more });
    const respondMetrics = async (text: () => string | Promise<string>) => respond(200, await text());
    if (request.method !== 'GET' && request.method !== 'HEAD') respond(405, { error: 'only GET and HEAD' });
    else if (path === '/livez') respondHealth('alive', stuck());
    else if (path === '/readyz') respondHealth('ready', lacking(), remarks());
    else if (path === '/startupz') respondHealth('started', hasBeenReady ? [] : lacking());
    else if (path === '/metrics' && metrics)
      respondMetrics(metrics).catch(() => respond(500, { error: 'the metrics cannot be read' }));
    else respond(404, { error: 'only /startupz, /livez, /readyz and /metrics exist' });
  }, limits);
  return listen(server, address);
}
