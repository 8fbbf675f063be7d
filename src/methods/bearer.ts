import { Failure } from './failure.ts';

/** RFC 6750: the only way a token is taken. Longer ones would not fit the headers of a backend call. */
const bearerForm = /^bearer ([\w.~+/-]{1,8192}=*)$/i;

/**
 * The caller's token as it stands in the header (M2). Nothing else is known of it before the information model has
 * accepted it.
 * @throws Failure unauthorized
 */
export function bearerToken(header: string | undefined): string {
  if (header === undefined) {
    throw new Failure('unauthorized', 'a bearer token is required: send the header Authorization: Bearer <token>');
  }
  const [, token] = bearerForm.exec(header) ?? [];
  if (token === undefined) {
    throw new Failure(
      'unauthorized',
      'the header Authorization must be the word Bearer, one space and a token (RFC 6750)',
    );
  }
  return token;
}

/** What names the caller in the log: claims of a token that the information model has accepted (M2). */
export interface Caller {
  readonly sub?: string;
  readonly azp?: string;
}

const longestClaim = 128;

/** The claims of a token that is a JWT; none of any other. Only for a token that has been accepted. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return {};
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null && !Array.isArray(claims) ? { ...claims } : {};
  } catch {
    return {};
  }
}

export function callerOf(claims: Readonly<Record<string, unknown>>): Caller {
  const named = (name: 'sub' | 'azp') => {
    const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
    return typeof value === 'string' && value !== '' ? { [name]: value.slice(0, longestClaim).toWellFormed() } : {};
  };
  return { ...named('sub'), ...named('azp') };
}
