/** Why a file is not fetched from this address; undefined when it may be (M12). */
export function addressFault(url: string, { hosts, loopbackHttp }: Allowed): string | undefined {
  if (!URL.canParse(url)) return 'its address is none';
  const { protocol, host, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return 'its address has a user';
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && loopbackHttp && isHere)) return 'its address is not https';
  return hosts.includes(host) ? undefined : 'its host is not configured';
}

interface Allowed {
  readonly hosts: readonly string[];
  readonly loopbackHttp: boolean;
}
