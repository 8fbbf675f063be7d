import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';

export interface Relay {
  readonly port: number;
  /** Ports of those who have connected. */
  readonly clients: readonly (number | undefined)[];
  close(): Promise<void>;
}

/** With TLS in front of what has none. */
export const startTlsRelay = (to: number, certificate: { readonly cert: string; readonly key: string }) =>
  started(
    createTlsServer(certificate, (socket) => join(socket, to)),
    '127.0.0.1',
  );

/** At another address of this machine. */
export const startRelay = (to: number, host: string): Promise<Relay> =>
  started(
    createServer((socket) => join(socket, to)),
    host,
  );

function join(socket: Socket, port: number) {
  const onward = connect({ host: '127.0.0.1', port });
  for (const [one, other] of [
    [socket, onward],
    [onward, socket],
  ] as const) {
    one.on('error', () => other.destroy());
    one.once('close', () => other.destroy());
    one.pipe(other);
  }
}

async function started(server: Server, host: string): Promise<Relay> {
  const clients: (number | undefined)[] = [];
  server.on('connection', (socket) => clients.push(socket.remotePort));
  server.on('tlsClientError', () => undefined);
  const { port, close } = await listening(server, host);
  return { port, clients, close };
}
