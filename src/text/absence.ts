import { isProxyFault, proxyAdvice } from 'telemetry/network/tunnel.ts';

/** Why there is no answer of another machine. */
type Absence = 'unknown host' | 'nobody' | 'untrusted' | 'wrong name' | 'wrong date' | 'no TLS';

/** By the codes of the operating system and of TLS, or our own time-out. */
const known: Readonly<Record<string, Absence>> = {
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'unknown host',
  ECONNREFUSED: 'nobody',
  EHOSTUNREACH: 'nobody',
  ENETUNREACH: 'nobody',
  ETIMEDOUT: 'nobody',
  UND_ERR_CONNECT_TIMEOUT: 'nobody',
  TooLate: 'nobody',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
  CERT_UNTRUSTED: 'untrusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'wrong name',
  CERT_HAS_EXPIRED: 'wrong date',
  CERT_NOT_YET_VALID: 'wrong date',
  ECONNRESET: 'no TLS',
  EPROTO: 'no TLS',
};

/** The operating system opens nothing more for this process, or for all of this machine. */
export const tooManyFiles = 'too many open files';

const ownLimit = {
  setting: 'ulimit -n',
  todo: 'the limit is that of this process (EMFILE) or machine (ENFILE), not of what it connects to: raise it, and look at what keeps connections open',
};

/** Fields that take the place of those of a diagnosis: the other side is not to blame. None for any other code or failure. */
export const ownLimitOf = (code: string): Partial<typeof ownLimit> =>
  code === 'EMFILE' || code === 'ENFILE' || code === tooManyFiles ? ownLimit : {};

/** What an error says, with its code, which errors of TLS have beside their message. */
export const saidOf = ({ message, code = '' }: NodeJS.ErrnoException): string =>
  message.includes(code) ? message : `${message} (${code})`.trim();

/** Whether it does not pass by itself: a certificate, or the rules of a proxy, must be mended. */
export const isLasting = (code: string): boolean => /CERT|ISSUER|SIGNATURE|EPROXY(AUTH|REFUSED)/.test(code);

/**
 * What an operator can do about a failure without an answer; undefined when its code tells no cause.
 * @param compare what names the host in the settings, and with what to compare it
 */
export function todoOf(code: string, compare: string): string | undefined {
  const absence = known[code] ?? (/^ERR_SSL_/.test(code) ? 'no TLS' : undefined);
  switch (absence) {
    case 'unknown host':
      return `there is no such host: ${compare}`;
    case 'nobody':
      return `nobody answers there: ${compare}, or wait until it is back`;
    case 'untrusted':
      return 'its certificate is not trusted: NETWORK_CA_FILE must name the authority, which a proxy that looks into TLS has too';
    case 'wrong name':
      return `its certificate is that of another host: ${compare}`;
    case 'wrong date':
      return 'its certificate is out of date: compare the clock of this machine';
    case 'no TLS':
      return `what is there breaks the connection off: ${compare}, and look for a proxy or a firewall between`;
    case undefined:
      return isProxyFault(code) ? proxyAdvice[code] : undefined;
  }
}
