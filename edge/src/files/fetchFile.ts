import { type FileHandle, open } from 'node:fs/promises';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { SignedFile } from '../invocation.ts';

/** A file cannot be had; the message says why, without its address. */
export class FetchFailed extends Error {
  override name = 'FetchFailed';
}

interface FetchOptions {
  readonly ca?: string | undefined;
  /** Permissions of the file when it is whole. */
  readonly mode: number;
  readonly signal: AbortSignal;
}

/**
 * Fetches a file to a path where nothing is yet: as it comes, never more than its length, and only if it is still the
 * one that was signed (M12).
 * @throws FetchFailed, or the error of the file system
 */
export async function fetchFile(file: SignedFile, path: string, { ca, mode, signal }: FetchOptions): Promise<void> {
  const response = await ask(file, ca, signal);
  try {
    checkHead(response, file);
    const target = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of counted(response, file.bytes)) await writeAll(target, chunk);
      await target.chmod(mode);
    } finally {
      await target.close();
    }
  } catch (error) {
    if (isOfThisMachine(error) || error instanceof FetchFailed) throw error;
    throw new FetchFailed(signal.aborted ? 'it did not come in time' : 'its host broke off');
  } finally {
    response.destroy();
  }
}

function ask({ url, etag }: SignedFile, ca: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
  const isTls = url.startsWith('https:');
  const options = {
    headers: { 'if-match': etag, 'accept-encoding': 'identity' },
    agent: false as const, // no connection is left open, no redirect is followed
    signal,
    ...(isTls && ca !== undefined && { ca }),
  };
  return new Promise((resolve, reject) => {
    const request = (isTls ? tlsRequest : plainRequest)(url, options, resolve);
    request.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        new FetchFailed(
          signal.aborted ? 'it did not come in time' : `its host does not answer: ${error.code ?? error.name}`,
        ),
      ),
    );
    request.end();
  });
}

/** @throws FetchFailed */
function checkHead({ statusCode = 0, headers }: IncomingMessage, { bytes, etag }: SignedFile): void {
  if (statusCode >= 300 && statusCode < 400) throw new FetchFailed('its host redirects');
  if (statusCode === 412) throw new FetchFailed('it was changed meanwhile');
  if (statusCode !== 200) throw new FetchFailed(`its host answers with status ${statusCode}`);
  if (bare(headers.etag ?? '') !== bare(etag)) throw new FetchFailed('it was changed meanwhile');
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw new FetchFailed('it comes compressed');
  const length = headers['content-length'];
  if (length !== undefined && Number(length) !== bytes) throw new FetchFailed('it has another length');
}

/** Storage services write it with quotes, or without. */
const bare = (etag: string): string => etag.replace(/^"(.*)"$/, '$1');

/** One write may take less than it is given. */
async function writeAll(target: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await target.write(chunk, at)).bytesWritten;
}

/** @throws FetchFailed */
async function* counted(chunks: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let count = 0;
  for await (const chunk of chunks) {
    count += chunk.length;
    if (count > bytes) throw new FetchFailed('it is longer than it was');
    yield chunk;
  }
  if (count < bytes) throw new FetchFailed('it is shorter than it was');
}

/** Disk full, quota, rights, too many open files. */
export const isOfThisMachine = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error &&
  'code' in error &&
  [
    'ENOSPC',
    'EDQUOT',
    'EFBIG',
    'EIO',
    'EROFS',
    'EACCES',
    'EPERM',
    'ENOENT',
    'ENOTDIR',
    'EMFILE',
    'ENFILE',
    'EEXIST',
  ].includes(String(error.code));
