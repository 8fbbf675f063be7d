import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createSecureContext, TLSSocket } from 'node:tls';
import { type Issued, issueCertificate } from 'iot-hub-emulator/testing';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';

/**
 * An outbound proxy that inspects TLS, as organisations have: it answers each CONNECT itself, with a certificate of its own authority for the
 * host, and passes the requests on.
 * @param caFile where the authority's certificate is written
 * @param names the real address (`https://host/path/`) behind a host that exists only here
 */
export async function startInspectingProxy(caFile: string, names: Readonly<Record<string, string>>) {
  const authority = await issueCertificate({ name: 'Inspecting proxy', role: 'authority' });
  await writeFile(caFile, authority.cert);
  const asked = new Set<string>();
  const issued = new Map<string, Promise<Issued>>();
  const certificateOf = (host: string) => {
    const known =
      issued.get(host) ?? issueCertificate({ name: host, role: 'server', names: [host], issuer: authority });
    issued.set(host, known);
    return known;
  };
  const inspected = createServer((request, response) => {
    passOn(request, response, names).catch((error) => response.destroy(error));
  });
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', async ({ url = '' }, socket, early) => {
    const [host = ''] = url.split(':');
    asked.add(host);
    const { cert, key } = await certificateOf(host);
    if (!(socket instanceof Socket)) throw new Error('the proxy has something else than a socket');
    socket.on('error', () => undefined);
    socket.unshift(early);
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const secure = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext({ cert, key }) });
    secure.on('error', () => undefined); // who does not know the authority hangs up
    inspected.emit('connection', secure);
  });
  const { port, close } = await listening(server);
  /** As in `HTTPS_PROXY`, and the hosts that were asked for. */
  return { url: `http://127.0.0.1:${port}`, asked, close };
}

/** GET alone; redirects are for who asked. */
async function passOn(
  { method, url = '', headers }: IncomingMessage,
  response: ServerResponse,
  names: Readonly<Record<string, string>>,
): Promise<void> {
  if (method !== 'GET') return void response.writeHead(405).end();
  const address = names[headers.host ?? ''] ?? `https://${headers.host}/`;
  const { accept = '*/*' } = headers;
  const answer = await fetch(address.replace(/\/$/, '') + url, { headers: { accept }, redirect: 'manual' });
  const kept = ['content-type', 'location'].flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  response.writeHead(answer.status, Object.fromEntries(kept));
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body), response);
}
