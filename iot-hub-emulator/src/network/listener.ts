import { constants } from 'node:crypto';
import { createServer, type Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';

/** An open port. */
export interface Listener {
  port: number;
  /** Take no more connections: they are refused. Those that are there stay. */
  pause(): Promise<void>;
  /** Listen again, on the same port, as soon as it is free; not after `close`. */
  resume(): Promise<void>;
  /** Stop listening. Sockets get a moment to end by themselves, then they are destroyed; resolves when all are gone. */
  close(): Promise<void>;
}

/** Whether a new connection is taken over before anything is read from it: it is not to be served. */
export type Intercept = (socket: Socket) => boolean;

const graceMs = 200;
const retryMs = 50;
// as many as connect at once when ten thousand devices come back
const backlog = 4096;
const rawSockets = new WeakMap<Duplex, Socket>();
const carriers = new WeakMap<Duplex, Duplex>();

/** Where a port opens. */
export interface Place {
  /** 0: a free one. */
  readonly port: number;
  /** IP address; default the loopback interface. */
  readonly host?: string;
}

/** How a port speaks TLS: with this key and certificate, to clients that are through with it within so many milliseconds. */
export interface TlsOptions {
  key: string;
  cert: string;
  handshakeMs: number;
}

/** Listen, with TLS if it is wanted, and hand every socket to `accept` that is not intercepted. */
export function listen(
  place: Place,
  tls: TlsOptions | undefined,
  accept: (socket: Socket) => void,
  intercept?: Intercept,
): Promise<Listener> {
  if (!tls) return listenWith(createServer({ noDelay: true }), place, intercept, accept);
  const { key, cert, handshakeMs } = tls;
  // Devices may have any certificate, or none: their login says which counts. A session that is taken up again would be
  // without the certificates above the client's own, so each connection has a handshake of its own.
  const options = { requestCert: true, rejectUnauthorized: false, secureOptions: constants.SSL_OP_NO_TICKET };
  const server = createTlsServer({ key, cert, ...options, minVersion: 'TLSv1.2', noDelay: true }, accept);
  return listenWith(server, place, intercept, limitHandshakes(server, handshakeMs));
}

/** Destroys sockets that are not through with TLS in time. Node's own limit begins anew with every byte. */
function limitHandshakes(server: Server, ms: number): (socket: Socket) => void {
  const deadlines = new Map<string, NodeJS.Timeout>();
  const settle = (client: string): void => {
    clearTimeout(deadlines.get(client));
    deadlines.delete(client);
  };
  server.on('secureConnection', (socket: Socket) => settle(clientOf(socket)));
  return (socket) => {
    const client = clientOf(socket);
    deadlines.set(
      client,
      setTimeout(() => socket.destroy(), ms),
    );
    socket.once('close', () => settle(client));
  };
}

/** The same for a server that knows what to do with its sockets. */
export async function listenWith(
  server: Server,
  place: Place,
  intercept: Intercept = () => false,
  accept: (socket: Socket) => void = () => undefined,
): Promise<Listener> {
  const sockets = new Map<string, Socket>();
  const serve = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const client = clientOf(socket);
    sockets.set(client, socket);
    socket.on('close', () => sockets.delete(client));
    if (intercept(socket)) return;
    for (const next of serve) next.call(server, socket);
    accept(socket);
  });
  server.on('secureConnection', (socket: Socket) => {
    const raw = sockets.get(clientOf(socket));
    if (raw) rawSockets.set(socket, raw);
  });
  server.on('error', () => undefined); // a socket that could not be accepted; the others can
  await open(server, place);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  const { port: own } = address;
  let ended = false;
  return {
    port: own,
    async pause() {
      if (server.listening) server.close();
    },
    async resume() {
      while (!ended && !server.listening) {
        const failed = await open(server, { ...place, port: own }).then(
          () => false,
          () => true, // another program has the port
        );
        if (failed) await sleep(retryMs);
      }
    },
    close: () =>
      new Promise((resolve) => {
        ended = true;
        const force = setTimeout(() => {
          for (const socket of sockets.values()) socket.destroy();
        }, graceMs);
        server.close(() => {
          clearTimeout(force);
          resolve();
        });
      }),
  };
}

/** Say that a stream goes over this socket, so that to break it is to break the socket. */
export function layer(stream: Duplex, socket: Duplex): void {
  carriers.set(stream, socket);
  const raw = rawSockets.get(socket) ?? socket;
  if (raw instanceof Socket) rawSockets.set(stream, raw);
}

/** What a stream goes over; itself, if it is a socket. */
export const carrierOf = (stream: Duplex): Duplex => carriers.get(stream) ?? stream;

/** End a stream as soon as what was written has left; what still comes is not waited for. */
export function endSoon(stream: Duplex): void {
  stream.end();
  if (stream.writableFinished) stream.destroy();
  else stream.once('finish', () => stream.destroy());
}

/** Break a connection with a RST, under its TLS layer if it has one. */
export function reset(socket: Duplex): void {
  const raw = rawSockets.get(socket) ?? socket;
  if (raw instanceof Socket && !raw.destroyed) raw.resetAndDestroy();
  socket.destroy();
}

const clientOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`;

function open(server: Server, { port, host = '127.0.0.1' }: Place): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
