import { createPrivateKey, X509Certificate } from 'node:crypto';
import { partOf } from './connectionString.ts';
import type { Problem } from './crossChecks.ts';

/** With what the proxy signs in to the hub: the key in the connection string, or a certificate (D426). */
interface HubCredentials {
  readonly connectionString: string;
  /** PEM. */
  readonly certificate?: string;
  readonly key?: string;
}

/** The hub's client does not name the missing parts. `file` is that of the connection string, if it is in one. */
export function credentialProblems(hub: HubCredentials, file: string | undefined): Problem[] {
  const { connectionString, certificate, key } = hub;
  const place = file === undefined ? 'hub.connectionString' : 'hub.connectionStringFile';
  const has = (name: string) => partOf(connectionString, name) !== undefined;
  if (certificate === undefined || key === undefined) {
    if (has('x509')) return [[place, 'has x509: hub.certificateFile and hub.keyFile are required']];
    const missing = ['HostName', 'DeviceId', 'SharedAccessKey'].filter((name) => !has(name));
    return missing.length === 0
      ? []
      : [[place, `has no ${missing.join(', no ')}: HostName=…;DeviceId=…;SharedAccessKey=… is required`]];
  }
  if (has('SharedAccessKey'))
    return [[place, 'has a SharedAccessKey, and hub.certificateFile names a certificate: remove one of them']];
  const missing = ['HostName', 'DeviceId'].filter((name) => !has(name));
  if (missing.length > 0)
    return [[place, `has no ${missing.join(', no ')}: HostName=…;DeviceId=…;x509=true is required`]];
  return pairProblems(certificate, key);
}

function pairProblems(certificate: string, key: string): Problem[] {
  const own = attempt(() => new X509Certificate(certificate));
  if (!own) return [['hub.certificateFile', 'has no certificate in the form PEM']];
  const secret = attempt(() => createPrivateKey(key));
  if (!secret) return [['hub.keyFile', 'has no key in the form PEM, or one with a passphrase']];
  return own.checkPrivateKey(secret)
    ? []
    : [['hub.keyFile', 'is not the key of the certificate in hub.certificateFile']];
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
