import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { type Finding, failure, ok, outage, warning } from 'telemetry/check/finding.ts';
import { proxyFinding } from 'telemetry/check/proxyFinding.ts';
import { tunnelTo } from 'telemetry/network/outbound.ts';
import { inUrl } from 'telemetry/network/proxies.ts';
import { ProxyFailure } from 'telemetry/network/tunnel.ts';
import { within } from '../concurrency/within.ts';
import { todoOf } from '../text/absence.ts';
import type { Endpoint } from './endpoints.ts';

const answerMs = 10_000;
const dayMs = 24 * 60 * 60_000;
/** Certificates are replaced some weeks before they expire. */
const soonMs = 14 * dayMs;

/** Looks the host up, or asks the proxy for it, connects, and verifies its certificate. Nothing is sent. */
export async function checkNetwork(endpoint: Endpoint, what: string): Promise<Finding[]> {
  const { name, host, port, isEncrypted, setting } = endpoint;
  const where = `${inUrl(host)}:${port}`;
  const variable = isEncrypted ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  try {
    const tunnel = tunnelTo(new URL(`${isEncrypted ? 'https' : 'http'}://${where}`));
    const place =
      tunnel === undefined ? await resolved(host, where) : `${where} through ${tunnel.proxy.host} (${variable})`;
    const plain = tunnel ? await tunnel.open(host, port) : await opened(connect({ host, port }), 'connect');
    if (!isEncrypted) {
      plain.destroy();
      return [ok(what, `${place}; connected without TLS`)];
    }
    const servername = isIP(host) ? {} : { servername: host };
    const socket = await opened(connectTls({ host, socket: plain, ...servername }), 'secureConnect');
    const { valid_to: until } = socket.getPeerCertificate();
    const protocol = socket.getProtocol();
    socket.destroy();
    const leftMs = Date.parse(until) - Date.now();
    const found = `${place}; ${protocol}, certificate valid until ${new Date(until).toISOString().slice(0, 10)}`;
    return [
      leftMs < soonMs ? warning(what, found, `ask who runs the ${name} to renew its certificate`) : ok(what, found),
    ];
  } catch (error) {
    if (error instanceof ProxyFailure) return [proxyFinding(what, where, error)];
    const { code = '', message, name: kind } = error as NodeJS.ErrnoException;
    const todo = todoOf(code || kind, `compare ${setting}`) ?? `compare ${setting}, or wait until it is back`;
    const found = `${where}: ${code || message}`;
    return [isOfCertificate(code) ? failure(what, found, todo) : outage(what, found, todo)];
  }
}

async function resolved(host: string, where: string): Promise<string> {
  if (isIP(host)) return where;
  const addresses = await within(lookup(host, { all: true }), answerMs);
  return `${where} is ${addresses.map(({ address }) => address).join(', ')}`;
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
