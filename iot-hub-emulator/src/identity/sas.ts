import { createHmac, timingSafeEqual } from 'node:crypto';

/** How a key becomes HMAC bytes: Event Hubs takes its text, IoT Hub decodes it from base64. */
export type KeyEncoding = 'utf8' | 'base64';

/** A shared access signature, taken apart but not yet believed. */
export interface SasToken {
  /** What was signed: the resource as it stands in the token, still percent-encoded. */
  signedResource: string;
  /** The resource decoded, for example `localhost/devices/pump-1` or `sb://127.0.0.1/hub`. */
  resource: string;
  signature: string;
  /** Seconds since 1970, as text, as signed. */
  expiry: string;
  /** Name of the policy; absent when a device signs with its own key. */
  keyName: string | undefined;
}

// SharedAccessSignature sr=<resource>&sig=<base64 of HMAC-SHA256(sr \n se)>&se=<seconds>[&skn=<policy>], values percent-encoded

/** Take a token apart; undefined when it is not one. */
export function parseSas(text: string): SasToken | undefined {
  const prefix = 'SharedAccessSignature ';
  if (!text.startsWith(prefix)) return undefined;
  const fields = new Map<string, string>();
  for (const pair of text.slice(prefix.length).split('&')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    if (at <= 0 || fields.has(name)) return undefined;
    fields.set(name, pair.slice(at + 1));
  }
  const [sr, sig, se, skn] = ['sr', 'sig', 'se', 'skn'].map((name) => fields.get(name));
  if (!sr || !sig || !se || !/^\d{1,15}$/.test(se)) return undefined;
  try {
    return {
      signedResource: sr,
      resource: decodeURIComponent(sr),
      signature: decodeURIComponent(sig),
      expiry: se,
      keyName: skn ? decodeURIComponent(skn) : undefined,
    };
  } catch {
    return undefined; // a stray percent sign
  }
}

/** Whether the token was signed with this key. Takes the same time for every wrong signature. */
export function isSignedWith(token: SasToken, key: string, encoding: KeyEncoding): boolean {
  const expected = hmac(token.signedResource, token.expiry, key, encoding);
  const given = Buffer.from(token.signature, 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Make a token for `resource` (decoded form) that ends at `expiry` (seconds since 1970). */
export function signSas(
  resource: string,
  key: string,
  encoding: KeyEncoding,
  expiry: number,
  keyName?: string,
): string {
  const sr = encodeURIComponent(resource);
  const sig = encodeURIComponent(hmac(sr, String(expiry), key, encoding).toString('base64'));
  const skn = keyName === undefined ? '' : `&skn=${encodeURIComponent(keyName)}`;
  return `SharedAccessSignature sr=${sr}&sig=${sig}&se=${expiry}${skn}`;
}

function hmac(resource: string, expiry: string, key: string, encoding: KeyEncoding): Buffer {
  return createHmac('sha256', Buffer.from(key, encoding)).update(`${resource}\n${expiry}`).digest();
}
