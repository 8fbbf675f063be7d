import { Refusal } from '../values/refusal.ts';

export const authenticationTypes = ['sas', 'selfSigned', 'certificateAuthority'] as const;

/** How a device or module proves who it is, in the words of the registry. */
export type Authentication =
  /** By tokens that one of its keys signs. */
  | { readonly type: 'sas' }
  /** By a certificate with either thumbprint: its SHA-1 or SHA-256 as hexadecimal digits. */
  | {
      readonly type: 'selfSigned';
      readonly primaryThumbprint?: string | undefined;
      readonly secondaryThumbprint?: string | undefined;
    }
  /** By a certificate in its name behind which a registered CA certificate stands (H19). */
  | { readonly type: 'certificateAuthority' };

const thumbprint = /^([\da-f]{40}|[\da-f]{64})$/i;

/** Refuses thumbprints that are none, and none at all. */
export function checkAuthentication(authentication: Authentication): void {
  if (authentication.type !== 'selfSigned') return;
  const { primaryThumbprint, secondaryThumbprint } = authentication;
  const given = [primaryThumbprint, secondaryThumbprint].filter((one) => one !== undefined);
  if (given.length === 0 || !given.every((one) => thumbprint.test(one)))
    throw new Refusal(
      'com.microsoft:argument-error',
      'A device of the type selfSigned has a thumbprint or two, each of 40 (SHA-1) or 64 (SHA-256) hexadecimal digits.',
    );
}
