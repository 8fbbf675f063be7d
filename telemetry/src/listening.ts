import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Address, namingSetting } from './address.ts';

/** A server that accepts connections. */
export interface Listening {
  /** The port that was chosen when any free one was asked for. */
  readonly port: number;
  /** Ends open requests, too. */
  close(): Promise<void>;
}

/** How long a client may take; a connection that is over one of them is closed, so that others find room (D198). */
export interface ClientLimits {
  /** For the headers of a request, from the connection or the first byte on. */
  readonly headersMs: number;
  /** For the whole request. */
  readonly requestMs: number;
  /** For the answer, from the headers of the request until the client has read it. */
  readonly answerMs: number;
  /** Between two requests. */
  readonly idleMs: number;
}

const usual: ClientLimits = { headersMs: 5_000, requestMs: 10_000, answerMs: 10_000, idleMs: 5_000 };
const checkEveryMs = 1_000;

/** @param takeTime lifts the limit of this answer */
type LimitedListener = (...given: [...Parameters<RequestListener>, takeTime: () => void]) => void;

/** A server, which does not listen yet, that waits for no client any longer than the limits say. */
export function createLimitedServer(listener: LimitedListener, limits = usual): Server {
  const { headersMs, requestMs, answerMs, idleMs } = limits;
  const timeouts = { headersTimeout: headersMs, requestTimeout: requestMs, keepAliveTimeout: idleMs };
  const connectionsCheckingInterval = Math.min(checkEveryMs, headersMs);
  return createServer({ ...timeouts, connectionsCheckingInterval }, (request, response) => {
    const overdue = setTimeout(() => response.destroy(), answerMs).unref();
    const takeTime = () => clearTimeout(overdue);
    response.once('close', takeTime);
    listener(request, response, takeTime);
  });
}

/** @throws Error that names the setting when the address is not available */
export async function listen(server: Server, address: Address): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(namingSetting(error, address)));
    server.listen(address.port, address.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
