interface AdminPort {
  readonly host: string;
  readonly port: number;
  /** Empty when none is needed. */
  readonly token: string;
}

/**
 * Asks an admin port, for commands.
 * @param url of another one than that of the settings; undefined: of the settings
 * @param path with its query
 * @param body to put; undefined: to get
 * @throws Error with a sentence for the operator
 */
export async function askAdmin(
  { host, port, token }: AdminPort,
  url: string | undefined,
  path: string,
  body?: object,
): Promise<Response> {
  const base = new URL(url ?? `http://${reachable(host)}:${port}`);
  const target = new URL(path, base);
  if (target.origin !== base.origin) throw new Error('the path must begin with one slash'); // the token is for one host
  const response = await fetch(target, {
    ...(body && { method: 'PUT', body: JSON.stringify(body) }),
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token !== '' && { authorization: `Bearer ${token}` }),
    },
    redirect: 'error',
  }).catch((error: Error) => {
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`the admin port at ${base.origin} does not answer: ${why}`);
  });
  if (!response.ok) throw new Error(await refusal(response));
  return response;
}

/** An address that means every interface is reached over the loopback one. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

async function refusal(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return String(JSON.parse(text).error);
  } catch {
    return `the admin port answers ${response.status}: is it another program?`;
  }
}
