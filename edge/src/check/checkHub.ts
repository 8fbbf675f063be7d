import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { type Finding, failure, ok, outage, proxyFinding } from '@device-messaging/telemetry/check.ts';
import { ProxyFailure, tunnelTo } from '@device-messaging/telemetry/outbound.ts';
import { hostOf } from '@device-messaging/telemetry/proxies.ts';
import type { Configuration } from '../configuration/read.ts';
import { errorMessage } from '../connections/errorMessage.ts';
import { hubAddress } from '../connections/network.ts';

const what = 'hub';
const answerMs = 10_000;
const usualPorts = { tls: 8883, webSockets: 443 };

/**
 * Connects, and verifies the certificate. Does not sign in: a hub ends the other connection of an identity, which is that of
 * the running proxy. So a wrong key shows only at the start.
 */
export async function checkHub({
  connectionString,
  ca,
  certificate,
  webSockets,
}: Configuration['hub']): Promise<Finding[]> {
  const address = hubAddress(connectionString);
  const host = hostOf(address);
  const port = Number(address.port) || usualPorts[webSockets ? 'webSockets' : 'tls'];
  const tunnel = tunnelTo(address);
  const where = `${address.hostname}:${port}${tunnel === undefined ? '' : ` through ${tunnel.proxy.host} (HTTPS_PROXY)`}`;
  try {
    const way = tunnel === undefined ? { host, port } : { host, socket: await tunnel.open(host, port) };
    const until = await new Promise<string>((resolve, reject) => {
      const servername = isIP(host) === 0 ? { servername: host } : {};
      const socket = connect({ ...way, ...servername, ...(ca !== undefined && { ca }), timeout: answerMs });
      socket.once('secureConnect', () => {
        resolve(socket.getPeerCertificate().valid_to);
        socket.destroy();
      });
      socket.once('timeout', () => socket.destroy(new Error(`no answer within ${answerMs / 1000} s`)));
      socket.once('error', reject);
    });
    const day = new Date(until).toISOString().slice(0, 10);
    return [
      ok(what, `${where} answers, its certificate is valid until ${day}; the key shows only when the proxy signs in`),
      ...(certificate === undefined ? [] : [ownCertificate(certificate)]),
    ];
  } catch (error) {
    if (error instanceof ProxyFailure) return [proxyFinding(what, where, error)];
    const { code = '' } = error as NodeJS.ErrnoException;
    const found = `${where}: ${code || errorMessage(error)}`;
    return [
      /CERT|ISSUER|SIGNATURE/.test(code)
        ? failure(what, found, 'hub.caFile or network.caFile must name the authority of its certificate')
        : outage(
            what,
            found,
            'compare HostName in hub.connectionString with that of the hub, or wait until it is back',
          ),
    ];
  }
}

/** Until when the certificate of the proxy itself is valid: the hub refuses one that has expired without a reason. */
function ownCertificate(certificate: string): Finding {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [from, until] = [validFrom, validTo].map((time) => new Date(time).toISOString().slice(0, 10));
  return ok(what, `the certificate of the proxy is valid from ${from} until ${until}`);
}
