import type { RequestListener } from 'node:http';
import { type ClientLimits, createLimitedServer, type Listening, listen } from './listening.ts';

/**
 * `/livez`: the process makes progress. `/readyz`: it reads the hub and can reply; otherwise lists what is missing.
 * `/startupz`: it has been ready once.
 */
export type OperationsServer = Listening;

/** Texts about what is wrong; empty when the service is healthy. */
export interface Health {
  /** What the service lacks to be ready. */
  missing(): string[];
  /** What has been stuck for so long that only a restart can help. */
  stuck(): string[];
  /** Answers `/metrics`. */
  readonly metrics?: RequestListener | undefined;
}

/** @throws Error that names the setting when the port is not available */
export async function startOperationsServer(
  host: string,
  port: number,
  { missing, stuck, metrics }: Health,
  limits?: ClientLimits,
): Promise<OperationsServer> {
  let hasBeenReady = false;
  function lacking(): string[] {
    const waitingFor = missing();
    hasBeenReady ||= waitingFor.length === 0;
    return waitingFor;
  }

  const server = createLimitedServer((request, response) => {
    const pathname = request.url?.split('?', 1)[0];
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : `${JSON.stringify(body)}\n`);
    };
    const answerHealth = (well: string, waitingFor: string[]) =>
      waitingFor.length === 0 ? answer(200, { status: well }) : answer(503, { status: `not ${well}`, waitingFor });
    if (request.method !== 'GET' && request.method !== 'HEAD') answer(405, { error: 'only GET and HEAD' });
    else if (pathname === '/livez') answerHealth('alive', stuck());
    else if (pathname === '/readyz') answerHealth('ready', lacking());
    else if (pathname === '/startupz') answerHealth('started', hasBeenReady ? [] : lacking());
    else if (pathname === '/metrics' && metrics) metrics(request, response);
    else answer(404, { error: 'only /startupz, /livez, /readyz and /metrics exist' });
  }, limits);
  return listen(server, { host, port, settings: { host: 'HTTP_HOST', port: 'HTTP_PORT' } });
}
