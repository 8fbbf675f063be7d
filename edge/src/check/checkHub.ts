import { connect } from 'node:tls';
import { type Finding, failure, ok, outage } from 'telemetry/check/finding.ts';
import { errorMessage } from '../connections/errorMessage.ts';

const what = 'hub';
const answerMs = 10_000;
/** MQTT over TLS. */
const usualPort = 8883;

/**
 * Connects, and verifies the certificate. Does not sign in: a hub ends the other connection of an identity, which is that of
 * the running proxy. So a wrong key shows only at the start.
 */
export async function checkHub({
  connectionString,
  ca,
}: {
  readonly connectionString: string;
  readonly ca?: string;
}): Promise<Finding[]> {
  const [, name = ''] = /(?:^|;)\s*HostName=([^;]+)/.exec(connectionString) ?? [];
  const { hostname: host, port } = new URL(`https://${name.trim()}`);
  const at = { host, port: Number(port) || usualPort };
  const where = `${at.host}:${at.port}`;
  try {
    const until = await new Promise<string>((resolve, reject) => {
      const socket = connect({ ...at, servername: host, ...(ca !== undefined && { ca }), timeout: answerMs });
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
    ];
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const found = `${where}: ${code || errorMessage(error)}`;
    return [
      /CERT|ISSUER|SIGNATURE/.test(code)
        ? failure(what, found, 'hub.caFile or NODE_EXTRA_CA_CERTS must name the authority of its certificate')
        : outage(
            what,
            found,
            'compare HostName in hub.connectionString with that of the hub, or wait until it is back',
          ),
    ];
  }
}
