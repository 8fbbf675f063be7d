import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';

/** What a token says of whom it is for, until when, and for which resource; times in seconds since 1970. */
export interface TokenClaims {
  readonly aud: string;
  readonly iss: string;
  /** Object id of the principal. */
  readonly oid: string;
  readonly nbf: number;
  readonly exp: number;
}

/** Signs tokens, and the public key that checks them, as PEM. */
export interface TokenSigner {
  readonly publicKey: string;
  sign(claims: TokenClaims & Readonly<Record<string, unknown>>): string;
}

// JWS compact form: base64url(header).base64url(claims).base64url(RSA-SHA256 of both with the dot)

/** A signer with a new RSA key. */
export function createTokenSigner(): TokenSigner {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    sign(claims) {
      const signed = [{ typ: 'JWT', alg: 'RS256' }, claims].map(encode).join('.');
      return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
    },
  };
}

/** The claims of a token with a good signature of `publicKey` (PEM); undefined for anything else. Says nothing of its time. */
export function claimsIn(token: string, publicKey: string): TokenClaims | undefined {
  const [header = '', claims = '', signature = '', ...more] = token.split('.');
  if (more.length > 0 || decode(header)?.['alg'] !== 'RS256') return undefined;
  const isGood = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    createPublicKey(publicKey),
    Buffer.from(signature, 'base64url'),
  );
  const { aud, iss, oid, nbf, exp } = (isGood ? decode(claims) : undefined) ?? {};
  if (typeof aud !== 'string' || typeof iss !== 'string' || typeof oid !== 'string') return undefined;
  return typeof nbf === 'number' && typeof exp === 'number' ? { aud, iss, oid, nbf, exp } : undefined;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function decode(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
