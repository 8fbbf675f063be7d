import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { type Finding, failure, ok, outage, warning } from 'telemetry/check/finding.ts';
import { within } from '../concurrency/within.ts';
import { todoOf } from '../text/absence.ts';
import type { Endpoint } from './endpoints.ts';

const answerMs = 10_000;
const dayMs = 24 * 60 * 60_000;
/** Certificates are replaced some weeks before they expire. */
const soonMs = 14 * dayMs;

/** Looks the host up, connects, and verifies its certificate. Nothing is sent. */
export async function checkNetwork(endpoint: Endpoint, what: string, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const { name, host, port, isEncrypted, setting } = endpoint;
  const proxy = endpoint.mayHaveProxy ? proxyOf(endpoint, env) : undefined;
  if (proxy !== undefined)
    return [ok(what, `${host} is reached through the proxy of ${proxy}; the check of what is there tries it`)];
  const where = `${host}:${port}`;
  try {
    const addresses = await within(lookup(host, { all: true }), answerMs);
    const resolved = addresses.map(({ address }) => address).join(', ');
    const place = isIP(host) ? where : `${where} is ${resolved}`;
    if (!isEncrypted) {
      (await opened(connect({ host, port }), 'connect')).destroy();
      return [ok(what, `${place}; connected without TLS`)];
    }
    const servername = isIP(host) ? {} : { servername: host };
    const socket = await opened(connectTls({ host, port, ...servername }), 'secureConnect');
    const { valid_to: until } = socket.getPeerCertificate();
    const protocol = socket.getProtocol();
    socket.destroy();
    const leftMs = Date.parse(until) - Date.now();
    const found = `${place}; ${protocol}, certificate valid until ${new Date(until).toISOString().slice(0, 10)}`;
    return [
      leftMs < soonMs ? warning(what, found, `ask who runs the ${name} to renew its certificate`) : ok(what, found),
    ];
  } catch (error) {
    const { code = '', message, name: kind } = error as NodeJS.ErrnoException;
    const todo = todoOf(code || kind, `compare ${setting}`) ?? `compare ${setting}, or wait until it is back`;
    const found = `${where}: ${code || message}`;
    return [isOfCertificate(code) ? failure(what, found, todo) : outage(what, found, todo)];
  }
}

const isOfCertificate = (code: string): boolean => /CERT|ISSUER|SIGNATURE/.test(code);

/** @throws the error of the socket, or TooLate */
async function opened<S extends Socket | TLSSocket>(socket: S, event: 'connect' | 'secureConnect'): Promise<S> {
  try {
    await within(
      new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.once(event, () => resolve());
        socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
      }),
      answerMs,
    );
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The variable of the environment whose proxy the client of the storage takes for this host. */
function proxyOf({ host, isEncrypted }: Endpoint, env: NodeJS.ProcessEnv): string | undefined {
  const without = env['NO_PROXY'] ?? env['no_proxy'] ?? '';
  const isExcepted = without.split(',').some((entry) => {
    const suffix = entry.trim();
    return suffix !== '' && (host === suffix || host.endsWith(suffix.startsWith('.') ? suffix : `.${suffix}`));
  });
  if (isExcepted) return undefined;
  const names = [isEncrypted ? 'HTTPS_PROXY' : 'HTTP_PROXY', 'ALL_PROXY'];
  return names.flatMap((name) => [name, name.toLowerCase()]).find((name) => env[name]);
}
