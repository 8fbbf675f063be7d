import { X509Certificate } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { carrierOf } from './listener.ts';

const presented = new WeakMap<TLSSocket, readonly X509Certificate[]>();

/**
 * The certificates that the client behind a stream presented for TLS, its own first, then those that issued the one before;
 * none if it presented none. It has the key of the first; nothing else is known of them.
 */
export function certificatesOf(stream: Duplex): readonly X509Certificate[] {
  const socket = carrierOf(stream);
  if (!(socket instanceof TLSSocket)) return [];
  const known = presented.get(socket);
  if (known) return known;
  const found: X509Certificate[] = [];
  const seen = new Set<DetailedPeerCertificate>();
  // null after the end of the connection, an empty object without a certificate; a root is its own issuer
  let next: DetailedPeerCertificate | null | undefined = socket.getPeerCertificate(true);
  while (next?.raw && !seen.has(next)) {
    seen.add(next);
    found.push(new X509Certificate(next.raw));
    next = next.issuerCertificate;
  }
  presented.set(socket, found);
  return found;
}
