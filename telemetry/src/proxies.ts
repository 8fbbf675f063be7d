import { BlockList, isIP } from 'node:net';

/**
 * The values of the variables that programs take for their proxies; empty when there is none. `https`: for addresses with TLS
 * (`HTTPS_PROXY`); `http`: for those without (`HTTP_PROXY`); `except`: hosts, domains, addresses and networks that are
 * reached directly (`NO_PROXY`).
 */
export type ProxyVariables = Readonly<Record<'https' | 'http' | 'except', string>>;

/**
 * The proxy for an address; undefined when it is reached directly (D406).
 * @throws TypeError for a proxy that `proxyProblem` refuses
 */
export function createProxyOf({ https, http, except }: ProxyVariables): (address: URL) => URL | undefined {
  const [secure, plain] = [https, http].map((text) => (text === '' ? undefined : new URL(text)));
  const isExcepted = exceptions(except);
  return (address) => {
    const proxy = isSecure(address) ? secure : plain;
    return proxy === undefined || isExcepted(hostOf(address), portOf(address)) ? undefined : proxy;
  };
}

/** What is wrong with the address of a proxy, without its value, which can have a password; undefined when it is right. */
export function proxyProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isRight = /^https?:$/.test(url?.protocol ?? '') && url?.pathname === '/' && !url.search && !url.hash;
  return isRight && canDecode(url.username) && canDecode(url.password)
    ? undefined
    : 'must be the http or https address of a proxy, as in http://user:password@proxy:3128, with special characters percent-encoded';
}

/** Of the addresses of proxies: texts that must not leave the process. */
export function proxySecrets(text: string): string[] {
  if (text === '') return [];
  if (proxyProblem(text) !== undefined) return [text];
  const { username, password } = new URL(text);
  if (password === '') return [];
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return [password, decodeURIComponent(password), Buffer.from(user).toString('base64')];
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const isSecure = ({ protocol }: URL): boolean => protocol === 'https:' || protocol === 'wss:';
const portOf = (address: URL): number => Number(address.port) || (isSecure(address) ? 443 : 80);

/** Without the brackets of an IPv6 address, which only URLs have. */
export const hostOf = ({ hostname }: Pick<URL, 'hostname'>): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** In the form that URLs and headers have. */
export const inUrl = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host);

type IsExcepted = (host: string, port: number) => boolean;

/**
 * `*`; a host, which stands for its subdomains, too (`example.com`, `.example.com`, `*.example.com`); an address; a network
 * (`10.0.0.0/8`). Each but the network may have a port.
 */
function exceptions(text: string): IsExcepted {
  const tests = text.split(/[\s,]+/).flatMap((entry) => (entry === '' ? [] : exception(entry)));
  return (host, port) => tests.some((isMeant) => isMeant(host.toLowerCase(), port));
}

function exception(entry: string): IsExcepted {
  if (entry === '*') return () => true;
  const [, network = '', bits] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (isIP(network) !== 0) return inNetwork(network, Number(bits));
  if (isIP(entry) !== 0) return inNetwork(entry);
  const [, bracketed, name = bracketed ?? '', port] = /^(?:\[(.*)\]|(.*?))(?::(\d+))?$/.exec(entry) ?? [];
  const domain = name.toLowerCase().replace(/^\*?\./, '');
  const inDomain = (host: string) => host === domain || host.endsWith(`.${domain}`);
  const isMeant = isIP(name) === 0 ? inDomain : inNetwork(name);
  return (host, asked) => (port === undefined || Number(port) === asked) && isMeant(host);
}

/** @param bits of the address when omitted: all, so that the network is one address */
function inNetwork(network: string, bits?: number): (host: string) => boolean {
  const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const most = isIP(network) === 6 ? 128 : 32;
  if (bits !== undefined && bits > most) return () => false;
  const list = new BlockList();
  list.addSubnet(network, bits ?? most, familyOf(network));
  return (host) => isIP(host) !== 0 && list.check(host, familyOf(host));
}
