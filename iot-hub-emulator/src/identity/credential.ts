import type { X509Certificate } from 'node:crypto';

/** By what a client can prove, when it connects, who it is. Its identity says which of it counts. */
export interface Credentials {
  /** A shared access signature, made with a key of the device or of a policy. */
  readonly token?: string | undefined;
  /** The certificates that it presented, its own first. TLS has made sure that it has the key of that one. */
  readonly certificates?: readonly X509Certificate[] | undefined;
}
