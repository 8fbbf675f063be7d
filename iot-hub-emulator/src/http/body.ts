import type { IncomingMessage } from 'node:http';

/** The caller disconnected before its whole request had come: no answer can reach it. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

/**
 * The whole body. Rejects with `CallerGone`, or with `tooLarge` as soon as there are more bytes than `limit`; the rest of
 * such a body is read and dropped, so that its sender gets to read the answer.
 */
export function readBody(request: IncomingMessage, limit: number, tooLarge: () => Error): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      const before = size;
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else if (before <= limit) reject(tooLarge());
    });
    request.on('end', () => {
      const [only] = chunks;
      resolve(only && chunks.length === 1 ? only : Buffer.concat(chunks));
    });
    request.on('error', () => reject(new CallerGone()));
    request.on('close', () => {
      if (!request.complete) reject(new CallerGone());
    });
  });
}
