import { randomBytes, X509Certificate } from 'node:crypto';
import type { Table } from '../persistence/table.ts';
import { Refusal } from '../values/refusal.ts';
import { thumbprintsOf } from './certificateProof.ts';
import { commonNameOf, isIssuedBy, isValidAt } from './chain.ts';

/** A CA certificate that is registered with the hub. Times are ISO 8601. */
export interface CaCertificate {
  readonly name: string;
  readonly subject: string;
  /** SHA-1, hexadecimal. */
  readonly thumbprint: string;
  readonly expiry: string;
  /** Its owner has proved to have the key; only then do devices get in by it. */
  readonly isVerified: boolean;
  readonly created: string;
  readonly updated: string;
}

/** The CA certificates of a hub, as its owner manages them (H20). */
export interface CaCertificates {
  list(): CaCertificate[];
  /**
   * Register a certificate (PEM), or put another one in the place of the one of that name. `isVerified` leaves out the proof.
   * Refuses what is no valid CA certificate, another name than of letters, digits or `- . _`, and more than 25.
   */
  add(name: string, certificate: string, isVerified?: boolean): CaCertificate;
  /** A new code to prove with that one has the key: it goes into a certificate as the common name. Refuses an unknown name. */
  generateVerificationCode(name: string): string;
  /** Count as verified by a certificate (PEM) that the registered one has issued for the last code. Refuses any other. */
  verify(name: string, certificate: string): CaCertificate;
  /** False when there was none. */
  remove(name: string): boolean;
  /** Those that devices get in by. */
  verified(): readonly X509Certificate[];
}

/** A certificate as it is stored on disk. */
export interface StoredCaCertificate {
  readonly name: string;
  /** PEM. */
  readonly certificate: string;
  readonly isVerified: boolean;
  readonly verificationCode: string | undefined;
  readonly created: string;
  readonly updated: string;
}

type Registered = StoredCaCertificate & { readonly parsed: X509Certificate };

const most = 25;
const validName = /^[A-Za-z0-9\-._]{1,64}$/;

/** CA certificates in memory, and in `table` if there is one. `now` gives milliseconds since 1970. */
export function createCaCertificates(now: () => number, table?: Table<StoredCaCertificate>): CaCertificates {
  const certificates = new Map<string, Registered>();
  for (const [name, stored] of table?.entries() ?? [])
    certificates.set(name, { ...stored, parsed: new X509Certificate(stored.certificate) });

  const set = (changed: Registered): CaCertificate => {
    const { parsed, ...stored } = { ...changed, updated: new Date(now()).toISOString() };
    certificates.set(stored.name, { ...stored, parsed });
    table?.put(stored.name, stored);
    return show({ ...stored, parsed });
  };
  const find = (name: string): Registered => {
    const found = certificates.get(name);
    if (!found) throw new Refusal('amqp:not-found', 'There is no CA certificate of this name.');
    return found;
  };

  return {
    list: () => [...certificates.values()].map(show),

    add(name, text, isVerified = false) {
      if (!validName.test(name)) throw refused('The name of a certificate has 1 to 64 letters, digits or - . _');
      if (!certificates.has(name) && certificates.size >= most)
        throw refused(`A hub has ${most} CA certificates at most.`);
      const parsed = parse(text);
      if (!parsed.ca) throw refused('The certificate may issue none: it is no CA certificate.');
      if (!isValidAt(parsed, now())) throw refused('The certificate has expired, or is not valid yet.');
      const created = new Date(now()).toISOString();
      const certificate = parsed.toString();
      return set({ name, certificate, isVerified, verificationCode: undefined, created, updated: created, parsed });
    },

    generateVerificationCode(name) {
      const verificationCode = randomBytes(20).toString('hex').toUpperCase();
      set({ ...find(name), verificationCode });
      return verificationCode;
    },

    verify(name, text) {
      const found = find(name);
      const proof = parse(text);
      if (found.verificationCode === undefined)
        throw refused('No verification code was generated for the certificate.');
      if (commonNameOf(proof) !== found.verificationCode)
        throw refused('The common name of the certificate is not the verification code that was generated last.');
      if (!isIssuedBy(proof, found.parsed) || !isValidAt(proof, now()))
        throw refused('The certificate is not issued by the registered one, or not valid now.');
      return set({ ...found, isVerified: true, verificationCode: undefined });
    },

    remove(name) {
      table?.delete(name);
      return certificates.delete(name);
    },

    verified: () => [...certificates.values()].filter(({ isVerified }) => isVerified).map(({ parsed }) => parsed),
  };
}

function show({ name, isVerified, created, updated, parsed }: Registered): CaCertificate {
  const [thumbprint] = thumbprintsOf(parsed);
  const expiry = new Date(parsed.validTo).toISOString();
  return { name, subject: parsed.subject.replaceAll('\n', ', '), thumbprint, expiry, isVerified, created, updated };
}

function parse(text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw refused('The certificate is none in the form PEM.');
  }
}

const refused = (sentence: string): Refusal => new Refusal('com.microsoft:argument-error', sentence);
