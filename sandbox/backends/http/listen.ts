import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Problem } from './problem.ts';

/** No body larger than this is read, in bytes. */
export const BODY_LIMIT = 8 * 1024 * 1024;

export interface Listener {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on the loopback interface only; `port` 0 is a free one. Connections are kept alive; `close` destroys them. */
export async function listen(port: number, listener: RequestListener): Promise<Listener> {
  const server = createServer({ keepAliveTimeout: 65_000 }, listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${actual}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a whole body as text. Over the limit → 413, not UTF-8 → 400, both as the problem to answer with;
 * `undefined` when the caller went away.
 */
export function readText(request: IncomingMessage): Promise<string | Problem | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_LIMIT) chunks.push(chunk);
      else resolve(new Problem(413, 'Too large', `the body is over ${BODY_LIMIT} bytes`));
    });
    request.on('end', () => {
      if (size === 0) return resolve('');
      try {
        resolve(utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
      } catch {
        resolve(new Problem(400, 'Validation failed', 'the body is not UTF-8'));
      }
    });
    request.on('close', () => resolve(undefined));
  });
}
