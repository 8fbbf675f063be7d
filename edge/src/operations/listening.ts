import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that accepts connections. */
export interface Listening {
  /** The one that was chosen when it was to be any free one. */
  readonly port: number;
  /** Ends open requests, too. */
  close(): Promise<void>;
}

/** @throws Error when the port is not available */
export async function listen(server: Server, host: string, port: number): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
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
