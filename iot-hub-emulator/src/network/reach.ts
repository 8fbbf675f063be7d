import { isIP, isIPv6 } from 'node:net';

/** Names and addresses of the machine itself: a hub has them always. */
export const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '::1'];

const loopback = '127.0.0.1';
const isLoopback = (host: string): boolean => host === '::1' || host.startsWith('127.');
const isAny = (host: string): boolean => host === '0.0.0.0' || host === '::';
const label = '[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?';
const name = new RegExp(`^(?=.{1,253}$)${label}(\\.${label})*$`, 'i');

/** Whether a text is an IP address; one of a zone (`%`) is of one machine only. */
export const isAddress = (text: string): boolean => isIP(text) > 0 && !text.includes('%');

/** Whether a text can be the name of a host, or its IP address. */
export const isHostName = (text: string): boolean => name.test(text) || isAddress(text);

/** Where a hub listens, and how clients call it. */
export interface Reach {
  /** IP address of all ports but that of administration. */
  readonly host: string;
  readonly adminHost: string;
  /** The admin port can be reached from other machines. */
  readonly isAdminOpen: boolean;
  /** All names and addresses that it answers to, in lower case. */
  readonly names: readonly string[];
  /** The name that its connection strings have. */
  readonly hostName: string;
}

/** How a hub is reached: on the loopback interface, unless an address was asked for. */
export function reachOf(asked: {
  host?: string | undefined;
  adminHost?: string | undefined;
  hostNames?: readonly string[] | undefined;
}): Reach {
  const { host = loopback, adminHost = loopback, hostNames = [] } = asked;
  const addresses = [host, adminHost].filter((address) => !isAny(address) && !isLoopback(address));
  const names = [...hostNames, ...addresses, ...loopbackNames].map(canonical);
  return {
    ...{ host, adminHost, isAdminOpen: !isLoopback(adminHost), names: [...new Set(names)] },
    hostName: isLoopback(host) ? 'localhost' : (hostNames[0] ?? (isAny(host) ? 'localhost' : host)),
  };
}

/** As clients write it in `Host` headers and tokens. */
const canonical = (text: string): string =>
  isIPv6(text) ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text.toLowerCase();

/** A host as a URL has it, with a port unless it is the usual one: an IPv6 address has brackets. */
export const hostWithPort = (host: string, port?: number): string =>
  `${host.includes(':') ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`;

/** Where a program of this machine reaches what listens on an address. */
export const localAddress = (host: string): string => (isAny(host) ? loopback : host);
