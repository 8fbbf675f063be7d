interface AllowedUrls {
  readonly hosts: readonly string[];
  readonly loopbackHttp: boolean;
}

/** Why a file must not be downloaded from this URL; undefined when it may be (M12). */
export function urlProblem(url: string, { hosts, loopbackHttp }: AllowedUrls): string | undefined {
  if (!URL.canParse(url)) return 'its URL is invalid';
  const { protocol, host, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return 'its URL contains credentials';
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && loopbackHttp && isLoopback)) return 'its URL is not https';
  return hosts.includes(host) ? undefined : 'its host is not configured';
}
