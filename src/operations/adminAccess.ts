import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { currentOf, renewed, type Secret } from '../identity/secretFiles.ts';

/** Why a request to the admin port is refused. */
interface RefusedAccess {
  readonly status: 401 | 403;
  readonly error: string;
}

/**
 * Undefined when the request may be answered.
 * @param isPublic what is asked for needs no token: it tells nothing
 */
export type AdminAccess = (
  request: Pick<IncomingMessage, 'headers'>,
  isPublic: boolean,
) => Promise<RefusedAccess | undefined>;

const here = ['localhost', '127.0.0.1', '[::1]'];

const noWebPage: RefusedAccess = { status: 403, error: 'web pages may not use the admin port' };
const noToken: RefusedAccess = { status: 401, error: 'a bearer token is needed: that of ADMIN_TOKEN' };

/**
 * Without a token only programs on this machine can reach the port, and so can the web pages in a browser here: a page
 * has an origin, or sends the name of its own host (DNS rebinding).
 * @param token empty when none is needed
 */
export function createAdminAccess(token: Secret): AdminAccess {
  const isToken = (given: string, expected: string) => timingSafeEqual(digestOf(given), digestOf(`Bearer ${expected}`));

  /** A token that is not the known one may be the next (D397). */
  async function isAccepted(given: string): Promise<boolean> {
    const known = currentOf(token);
    if (isToken(given, known)) return true;
    return isToken(given, await renewed(token, known));
  }

  return async ({ headers }, isPublic) => {
    const isOfPage = headers.origin !== undefined || /^(cross|same)-site$/.test(String(headers['sec-fetch-site']));
    if (isOfPage) return noWebPage;
    if (token !== '') return isPublic || (await isAccepted(headers.authorization ?? '')) ? undefined : noToken;
    const host = (headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
    return here.includes(host) || /^127(\.\d{1,3}){3}$/.test(host) ? undefined : noWebPage;
  };
}

/** Digests have one length, so that the comparison takes the same time for every text. */
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
