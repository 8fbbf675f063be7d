import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Certificate } from './certificate.ts';

/** The header of a request has ten seconds, as have look-ups and then the body; a body that is not read has the rest of the time. */
const options = {
  headersTimeout: 10_000,
  requestTimeout: 35_000,
  connectionsCheckingInterval: 1_000,
  requireHostHeader: false,
  keepAliveTimeout: 72_000, // longer than the idle time of usual load balancers, so that they close connections first
};

/** For the start, and for each change of the certificate. */
export const secureOptions = (tls: Certificate) => ({ ...tls, minVersion: 'TLSv1.2' as const });

/**
 * Node's server with our limits. It leaves to the listener what Node would answer by itself, without a body: a missing
 * `Host` and an unknown `Expect`. With `Expect: 100-continue` the listener asks for the body when it wants it.
 * @param tls undefined: plain HTTP
 */
export function createHttpServer(listener: RequestListener, tls: Certificate | undefined): Server {
  const server: Server =
    tls === undefined
      ? createServer(options, listener)
      : createTlsServer({ ...options, ...secureOptions(tls) }, listener);
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  return server;
}
