import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `/livez`: the process responds. `/readyz`: hub and broker are connected; otherwise says what it waits for. */
export interface Health {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws Error when the port cannot be opened */
export async function serveHealth(host: string, port: number, missing: () => readonly string[]): Promise<Health> {
  const server = createServer((request, response) => {
    const respond = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : `${JSON.stringify(body)}\n`);
    };
    const path = request.url?.split('?', 1)[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') respond(405, { error: 'only GET and HEAD' });
    else if (path === '/livez') respond(200, { status: 'alive' });
    else if (path === '/readyz') {
      const waitingFor = missing();
      if (waitingFor.length === 0) respond(200, { status: 'ready' });
      else respond(503, { status: 'not ready', waitingFor });
    } else respond(404, { error: 'the paths are /livez and /readyz' });
  });
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
