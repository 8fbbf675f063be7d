import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** An open port on the loopback interface. */
export interface Listener {
  port: number;
  /** Stop listening. Sockets get a moment to end by themselves, then they are destroyed; resolves when all are gone. */
  close(): Promise<void>;
}

const graceMs = 200;

/** Listen on 127.0.0.1 (port 0: a free one), with TLS when there are credentials, and hand every socket to `accept`. */
export function listen(
  port: number,
  credentials: { key: string; cert: string } | undefined,
  accept: (socket: Socket) => void,
): Promise<Listener> {
  const server = credentials
    ? createTlsServer({ ...credentials, minVersion: 'TLSv1.2', noDelay: true }, accept)
    : createServer({ noDelay: true }, accept);
  return listenWith(server, port);
}

/** The same for a server that knows what to do with its sockets. */
export async function listenWith(server: Server, port: number): Promise<Listener> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      server.on('error', () => undefined); // a socket that could not be accepted; the others can
      resolve();
    });
  });
  return {
    port: portOf(server),
    close: () =>
      new Promise((resolve) => {
        const force = setTimeout(() => {
          for (const socket of sockets) socket.destroy();
        }, graceMs);
        server.close(() => {
          clearTimeout(force);
          resolve();
        });
      }),
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}
