import { randomBytes } from 'node:crypto';

/** The caller's W3C trace context, or a new one. */
export function traceOf(header: string | readonly string[] | undefined): string {
  if (typeof header === 'string' && /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/.test(header))
    return header;
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
}
