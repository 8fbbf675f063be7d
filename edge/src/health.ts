import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `/livez`: the process answers. `/readyz`: invocations reach modules; says what is missing otherwise. */
export interface Health {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws Error when the port cannot be had */
export async function serveHealth(host: string, port: number, missing: () => readonly string[]): Promise<Health> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : `${JSON.stringify(body)}\n`);
    };
    const path = request.url?.split('?', 1)[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') answer(405, { error: 'only GET and HEAD' });
    else if (path === '/livez') answer(200, { status: 'alive' });
    else if (path === '/readyz') {
      const waitingFor = missing();
      if (waitingFor.length === 0) answer(200, { status: 'ready' });
      else answer(503, { status: 'not ready', waitingFor });
    } else answer(404, { error: 'there are /livez and /readyz' });
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
