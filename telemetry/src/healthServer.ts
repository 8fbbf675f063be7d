import type { Address } from './address.ts';
import { type ClientLimits, createLimitedServer, type Listening, listen } from './listening.ts';

/** What a program says about itself. */
export interface Health {
  /** What it lacks to be ready, as texts; empty when it is ready. */
  missing(): readonly string[];
  /** What has been stuck so long that only a restart helps, as texts. A program without it lives while it responds. */
  stuck?(): readonly string[];
  /** Further members of the body of `/readyz`. */
  remarks?(): object;
  /** Text of `/metrics`, in the format of Prometheus; undefined when metrics are switched off. */
  readonly metrics?: (() => string | Promise<string>) | undefined;
}

/**
 * Serves `/livez`: the program makes progress; `/readyz`: it can do its work, otherwise lists what is missing; `/startupz`:
 * it has been ready once; and `/metrics`.
 * @throws Error that names the setting when the port is not available
 */
export async function serveHealth(
  address: Address,
  { missing, stuck = () => [], remarks = () => ({}), metrics }: Health,
  limits?: ClientLimits,
): Promise<Listening> {
  let hasBeenReady = false;
  function lacking(): readonly string[] {
    const waitingFor = missing();
    hasBeenReady ||= waitingFor.length === 0;
    return waitingFor;
  }

  const server = createLimitedServer((request, response) => {
    const path = request.url?.split('?', 1)[0];
    const respond = (status: number, text: string, type: string) => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
      response.end(text); // without it for HEAD
    };
    const respondJson = (status: number, body: object) =>
      respond(status, `${JSON.stringify(body)}\n`, 'application/json');
    const respondHealth = (well: string, waitingFor: readonly string[], more = {}) =>
      waitingFor.length === 0
        ? respondJson(200, { status: well, ...more })
        : respondJson(503, { status: `not ${well}`, waitingFor, ...more });
    const respondMetrics = async (text: () => string | Promise<string>) => {
      try {
        respond(200, await text(), 'text/plain; version=0.0.4; charset=utf-8');
      } catch {
        respondJson(500, { error: 'the metrics cannot be read' });
      }
    };
    if (request.method !== 'GET' && request.method !== 'HEAD') respondJson(405, { error: 'only GET and HEAD' });
    else if (path === '/livez') respondHealth('alive', stuck());
    else if (path === '/readyz') respondHealth('ready', lacking(), remarks());
    else if (path === '/startupz') respondHealth('started', hasBeenReady ? [] : lacking());
    else if (path === '/metrics' && metrics) void respondMetrics(metrics);
    else respondJson(404, { error: 'only /startupz, /livez, /readyz and /metrics exist' });
  }, limits);
  return listen(server, address);
}
