import { hash } from 'node:crypto';
import type { RequestFields } from '../observing/invocationRecords.ts';
import { jsonValue } from '../protocol/json.ts';
import { Failure } from './failure.ts';
import { isObject } from './methodResponse.ts';

/** RFC 6750. Longer tokens would not fit the headers of a backend call. */
const bearerForm = /^bearer ([\w.~+/-]{1,8192}=*)$/i;

/** The caller's token (M2). Its claims must not be used before the information model has accepted it. @throws Failure unauthorized */
export function bearerToken(header: string | undefined): string {
  if (header === undefined) {
    throw new Failure('unauthorized', 'a bearer token is required: send the header Authorization: Bearer <token>');
  }
  const [, token] = bearerForm.exec(header) ?? [];
  if (token !== undefined) return token;
  const detail = 'the header Authorization must be the word Bearer, one space and a token (RFC 6750)';
  throw new Failure('unauthorized', detail);
}

const maxClaimLength = 128;

/** The claims of an accepted token if it is a JWT, without checking the signature. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return {};
  const claims = jsonValue(Buffer.from(payload, 'base64url').toString('utf8'));
  return isObject(claims) ? { ...claims } : {};
}

/** The caller in the log: claims of an accepted token. */
export function callerOf(claims: Readonly<Record<string, unknown>>): NonNullable<RequestFields['caller']> {
  const named = (name: 'sub' | 'azp') => {
    const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
    return typeof value === 'string' && value !== '' ? { [name]: value.slice(0, maxClaimLength).toWellFormed() } : {};
  };
  return { ...named('sub'), ...named('azp') };
}

/** Tells callers apart, for limits: the subject of an accepted token, else its authorized party, else the token itself (M14). */
export function callerKey({ sub, azp }: Readonly<Record<string, unknown>>, hash: string): string {
  if (typeof sub === 'string' && sub !== '') return `sub ${sub}`;
  if (typeof azp === 'string' && azp !== '') return `azp ${azp}`;
  return `token ${hash}`;
}

export const tokenHash = (token: string): string => hash('sha256', token, 'base64');
