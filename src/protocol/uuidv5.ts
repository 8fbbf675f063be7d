import { hash } from 'node:crypto';

const variants = '89ab';

/**
 * A UUID that is derived from a name (RFC 9562, version 5): SHA-1 over the 16 bytes of the namespace and the name in UTF-8.
 * @param namespace a UUID
 */
export function uuidv5(name: string, namespace: string): string {
  const length = Buffer.byteLength(name);
  const bytes = Buffer.allocUnsafe(16 + length);
  if (bytes.write(namespace.replaceAll('-', ''), 'hex') !== 16) throw new Error('the namespace is not a UUID');
  bytes.write(name, 16);
  const digest = hash('sha1', bytes, 'hex');
  const variant = variants[Number.parseInt(digest.charAt(16), 16) & 3];
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}
