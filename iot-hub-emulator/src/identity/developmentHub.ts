import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { KeyName } from './policies.ts';

/** The hub that everybody knows (H30). NOTHING OF IT IS A SECRET: it is printed in README. */
export const developmentHub = {
  /** Of the hub, of its event hub, and a name by which clients reach it. */
  name: 'iot-hub',
  /** Of every policy. */
  keys: {
    primaryKey: published('PUBLISHED-KEY-WHICH-IS-NO-SECRET'),
    secondaryKey: published('SECONDARY-KEY-WHICH-IS-NO-SECRET'),
  } satisfies Record<KeyName, string>,
  adminToken: 'PUBLISHED-TOKEN-WHICH-IS-NO-SECRET',
  /** One with the primary key of the policies, one with the certificate that the package has, key included. */
  devices: () => [
    { deviceId: 'device-1', primaryKey: developmentHub.keys.primaryKey },
    {
      deviceId: 'device-x509',
      authentication: { type: 'selfSigned' as const, primaryThumbprint: thumbprint(), secondaryThumbprint: undefined },
    },
  ],
};

function published(text: string): string {
  return Buffer.from(text).toString('base64');
}

function thumbprint(): string {
  const file = new URL('../../development/device-x509.pem', import.meta.url);
  return new X509Certificate(readFileSync(file)).fingerprint256.replaceAll(':', '');
}
