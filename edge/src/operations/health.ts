import { type ClientLimits, createLimitedServer, type Listening, listen } from './listening.ts';

/**
 * `/metrics`: in the text format of Prometheus. `/livez`: the process responds. `/readyz`: hub and broker are connected; otherwise says what it waits for; in both cases
 * why the changed configuration is refused, if it is.
 * `/startupz`: it has been ready once.
 */
export type Health = Listening;

interface HealthSources {
  /** What it waits for. */
  readonly missing: () => readonly string[];
  /** Further members of the body of `/readyz`. */
  readonly remarks: () => object;
  readonly metrics: () => string;
}

/** @throws Error when the port cannot be opened */
export async function serveHealth(
  host: string,
  port: number,
  { missing, remarks, metrics }: HealthSources,
  limits?: ClientLimits,
): Promise<Health> {
  let hasBeenReady = false;
  function lacking(): readonly string[] {
    const waitingFor = missing();
    hasBeenReady ||= waitingFor.length === 0;
    return waitingFor;
  }

  const server = createLimitedServer((request, response) => {
    const respond = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : `${JSON.stringify(body)}\n`);
    };
    const respondHealth = (well: string, waitingFor: readonly string[], more = {}) =>
      waitingFor.length === 0
        ? respond(200, { status: well, ...more })
        : respond(503, { status: `not ${well}`, waitingFor, ...more });
    const path = request.url?.split('?', 1)[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') respond(405, { error: 'only GET and HEAD' });
    else if (path === '/livez') respond(200, { status: 'alive' });
    else if (path === '/readyz') respondHealth('ready', lacking(), remarks());
    else if (path === '/startupz') respondHealth('started', hasBeenReady ? [] : lacking());
    else if (path === '/metrics') {
      response.writeHead(200, {
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        'cache-control': 'no-store',
      });
      response.end(request.method === 'HEAD' ? undefined : metrics());
    } else respond(404, { error: 'the paths are /startupz, /livez, /readyz and /metrics' });
  }, limits);
  return listen(server, { host, port, settings: { host: 'health.host', port: 'health.port' } });
}
