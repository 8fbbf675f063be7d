import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `/livez`: the process answers and gets on. `/readyz`: it reads the hub and can reply; says what is missing otherwise. */
export interface OperationsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** What is wrong, in words; nothing when all is well. */
export interface Health {
  /** What stands between the service and being ready. */
  missing(): string[];
  /** What has not helped itself for so long that a restart must. */
  stuck(): string[];
}

/** @throws Error when the port cannot be had */
export async function startOperationsServer(
  host: string,
  port: number,
  { missing, stuck }: Health,
): Promise<OperationsServer> {
  const server = createServer((request, response) => {
    const pathname = request.url?.split('?', 1)[0];
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : `${JSON.stringify(body)}\n`);
    };
    const answerHealth = (well: string, waitingFor: string[]) =>
      waitingFor.length === 0 ? answer(200, { status: well }) : answer(503, { status: `not ${well}`, waitingFor });
    if (request.method !== 'GET' && request.method !== 'HEAD') answer(405, { error: 'only GET and HEAD' });
    else if (pathname === '/livez') answerHealth('alive', stuck());
    else if (pathname === '/readyz') answerHealth('ready', missing());
    else answer(404, { error: 'there are /livez and /readyz' });
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
