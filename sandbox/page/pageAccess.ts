import type { IncomingMessage } from 'node:http';

const here = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * Whether a request comes from the page itself, or from a program on this machine: not from another web page, which has
 * another origin, and not from one under a name of its own that leads here (DNS rebinding).
 */
export function isOfPage({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  if (!here.test(host)) return false;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  return site === undefined || site === 'same-origin' || site === 'none';
}
