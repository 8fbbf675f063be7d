import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { listening } from '../../../iot-hub-emulator/test/support/listening.ts';

export type FileServer = Awaited<ReturnType<typeof startFileServer>>;

export async function startFileServer(tls?: { key: string; cert: string }) {
  const files = new Map<string, { content: Buffer; etag: string }>();
  const serve: RequestListener = (request, response) => {
    const file = files.get(request.url ?? '');
    if (!file) response.writeHead(404).end();
    else if (request.headers['if-match'] !== file.etag) response.writeHead(412).end();
    else response.writeHead(200, { etag: file.etag, 'content-length': file.content.length }).end(file.content);
  };
  let [listener, requests, open] = [serve, 0, 0];
  const listen: RequestListener = (request, response) => {
    requests += 1;
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
    listener(request, response);
  };
  const server = tls ? createTlsServer(tls, listen) : createServer(listen);
  const { port, close } = await listening(server);
  const host = `${tls ? 'localhost' : '127.0.0.1'}:${port}`;
  return {
    host,
    /** Adds a file; returns what the front door sends for it. */
    signed(name: string, content: Buffer | string) {
      const bytes = Buffer.from(content);
      const etag = `"0x${files.size + 1}"`;
      const path = `/files/${encodeURIComponent(name)}?sig=${'s'.repeat(20)}`;
      files.set(path, { content: bytes, etag });
      return { url: `${tls ? 'https' : 'http'}://${host}${path}`, bytes: bytes.length, etag };
    },
    /** Replaces the behaviour; by default it serves the files and checks If-Match. */
    behave(next: RequestListener) {
      listener = next;
    },
    get requests() {
      return requests;
    },
    get open() {
      return open;
    },
    close,
  };
}
