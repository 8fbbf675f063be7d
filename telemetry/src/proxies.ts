import { BlockList, isIP } from 'node:net';

/** Which addresses are reached through a proxy (D406). */
export interface Proxies {
  /** The proxy for an address; undefined when it is reached directly. */
  of(address: URL): URL | undefined;
}

/** The values of the variables that programs take for their proxies; empty when there is none. */
export interface ProxyVariables {
  /** `HTTPS_PROXY`: for addresses with TLS. */
  readonly https: string;
  /** `HTTP_PROXY`: for addresses without. */
  readonly http: string;
  /** `NO_PROXY`: hosts, domains, addresses and networks that are reached directly. */
  readonly except: string;
}

/** @throws TypeError for a proxy that `proxyProblem` refuses */
export function createProxies({ https, http, except }: ProxyVariables): Proxies {
  const secure = https === '' ? undefined : new URL(https);
  const plain = http === '' ? undefined : new URL(http);
  const isExcepted = exceptions(except);
  return {
    of(address) {
      const proxy = isSecure(address) ? secure : plain;
      return proxy === undefined || isExcepted(hostOf(address), portOf(address)) ? undefined : proxy;
    },
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
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  const tests = entries.map(exception);
  return (host, port) => tests.some((isMeant) => isMeant(host.toLowerCase(), port));
}

function exception(entry: string): IsExcepted {
  if (entry === '*') return () => true;
  const [, network = '', bits] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (isIP(network) !== 0) return inNetwork(network, Number(bits));
  if (isIP(entry) !== 0) return inNetwork(entry, isIP(entry) === 6 ? 128 : 32);
  const [, bracketed, name = bracketed ?? '', port] = /^(?:\[(.*)\]|(.*?))(?::(\d+))?$/.exec(entry) ?? [];
  const isPort = (asked: number) => port === undefined || Number(port) === asked;
  if (isIP(name) !== 0) {
    const isAddress = inNetwork(name, isIP(name) === 6 ? 128 : 32);
    return (host, asked) => isPort(asked) && isAddress(host, asked);
  }
  const domain = name.toLowerCase().replace(/^\*?\./, '');
  return (host, asked) => isPort(asked) && (host === domain || host.endsWith(`.${domain}`));
}

function inNetwork(network: string, bits: number): IsExcepted {
  const list = new BlockList();
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  if (bits > (family === 'ipv6' ? 128 : 32)) return () => false;
  list.addSubnet(network, bits, family);
  return (host) => isIP(host) !== 0 && list.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}
