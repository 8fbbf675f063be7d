import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { TrustedAuthority } from '../identity/bearer.ts';
import { identityRights } from '../identity/policies.ts';
import { UsageError } from './usageError.ts';

const isPublicKey = (pem: string): boolean => {
  try {
    return createPublicKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
};

const authority = z.strictObject({
  issuer: z.string().min(1),
  publicKey: z.string().refine(isPublicKey, 'is not the PEM of an RSA key'),
  rights: z.record(z.string(), z.array(z.enum(identityRights))),
});

/** The authority of a JSON file. Throws `UsageError`. */
export function readAuthority(file: string): TrustedAuthority {
  try {
    return authority.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    const why =
      error instanceof z.ZodError
        ? error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`).join('; ')
        : (error as Error).message;
    throw new UsageError(`--authority ${file}: ${why}`);
  }
}
