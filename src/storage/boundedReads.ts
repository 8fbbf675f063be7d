import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** The service has not written what is stored under this name; it was not read whole. */
export class ForeignFile extends Error {
  override readonly name = 'ForeignFile';
}

/**
 * The text of a file, unless it is longer than any of ours, or no file: a pipe would be waited for without end.
 * @throws ForeignFile, or the error of the file system
 */
export function readBounded(path: string, mostBytes: number): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw new ForeignFile(`${path} is no file`);
    if (found.size > mostBytes)
      throw new ForeignFile(`${path} has ${found.size} bytes, over the ${mostBytes} that it may have`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Stops reading a stream that is longer than `mostBytes`; what is returned then is longer, too. */
export async function beginningOf(stream: NodeJS.ReadableStream, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes > mostBytes) break;
  }
  return Buffer.concat(chunks);
}
