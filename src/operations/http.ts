import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `/livez`: the process answers. `/readyz`: it reads the hub and can reply; says what is missing otherwise. */
export interface OperationsServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * @param missing what stands between the service and being ready, in words; empty when it is
 * @throws Error when the port cannot be had
 */
export async function startOperationsServer(
  host: string,
  port: number,
  missing: () => string[],
): Promise<OperationsServer> {
  const server = createServer((request, response) => {
    const pathname = request.url?.split('?', 1)[0];
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : `${JSON.stringify(body)}\n`);
    };
    if (request.method !== 'GET' && request.method !== 'HEAD') answer(405, { error: 'only GET and HEAD' });
    else if (pathname === '/livez') answer(200, { status: 'alive' });
    else if (pathname === '/readyz') {
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
