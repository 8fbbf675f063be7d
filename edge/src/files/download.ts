import { type FileHandle, open } from 'node:fs/promises';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { tunnelTo } from '@device-messaging/telemetry/outbound.ts';
import type { SignedFile } from '../hub/invocation.ts';

type Fault = 'no_connection' | 'timeout' | 'connection_lost' | 'status' | 'changed' | 'unexpected';

/** A file cannot be downloaded. The message gives the reason, without the URL. */
export class DownloadError extends Error {
  override name = 'DownloadError';
  readonly fault: Fault;
  /** Of the response. */
  readonly status: number | undefined;

  constructor(message: string, fault: Fault, status?: number) {
    super(message);
    this.fault = fault;
    this.status = status;
  }
}

export interface DownloadOptions {
  readonly ca?: string | undefined;
  /** File mode of the complete file. */
  readonly mode: number;
  readonly signal: AbortSignal;
}

/**
 * Downloads a file to a new path if it still has the signed etag and length (M12).
 * @throws DownloadError, or an error of the file system
 */
export async function download(file: SignedFile, path: string, { ca, mode, signal }: DownloadOptions): Promise<void> {
  const response = await get(file, ca, signal);
  try {
    checkHeaders(response, file);
    const target = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of limited(response, file.bytes)) await writeAll(target, chunk);
      await target.chmod(mode);
    } finally {
      await target.close();
    }
  } catch (error) {
    if (isFileSystemError(error) || error instanceof DownloadError) throw error;
    throw signal.aborted
      ? new DownloadError('the download timed out', 'timeout', 200)
      : new DownloadError('its host closed the connection', 'connection_lost', 200);
  } finally {
    response.destroy();
  }
}

function get({ url, etag }: SignedFile, ca: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
  const isTls = url.startsWith('https:');
  const options = {
    headers: { 'if-match': etag, 'accept-encoding': 'identity', connection: 'close' },
    agent: tunnelTo(new URL(url)) ?? (false as const), // no connection is kept open
    signal,
    ...(isTls && ca !== undefined && { ca }),
  };
  return new Promise((resolve, reject) => {
    const request = (isTls ? tlsRequest : plainRequest)(url, options, resolve);
    request.on('error', ({ code, name }: NodeJS.ErrnoException) => {
      const failed = new DownloadError(`its host does not respond: ${code ?? name}`, 'no_connection');
      reject(signal.aborted ? new DownloadError('the download timed out', 'timeout') : failed);
    });
    request.end();
  });
}

/** @throws DownloadError */
function checkHeaders({ statusCode = 0, headers }: IncomingMessage, { bytes, etag }: SignedFile): void {
  const failed = (reason: string, fault: Fault) => new DownloadError(reason, fault, statusCode);
  const changed = failed('it has changed since it was signed', 'changed');
  if (statusCode >= 300 && statusCode < 400) throw failed('its host redirects', 'status');
  if (statusCode === 412) throw changed;
  if (statusCode !== 200) throw failed(`its host responds with status ${statusCode}`, 'status');
  if (unquoted(headers.etag ?? '') !== unquoted(etag)) throw changed;
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw failed('its host compresses it', 'unexpected');
  const length = headers['content-length'];
  if (length !== undefined && Number(length) !== bytes)
    throw failed('its length differs from the signed one', 'changed');
}

/** Storage services send the etag with or without quotes. */
const unquoted = (etag: string): string => etag.replace(/^"(.*)"$/, '$1');

/** A write may be partial. */
async function writeAll(target: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await target.write(chunk, at)).bytesWritten;
}

/** @throws DownloadError */
async function* limited(chunks: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let count = 0;
  for await (const chunk of chunks) {
    count += chunk.length;
    if (count > bytes) throw new DownloadError('it is longer than the signed length', 'changed', 200);
    yield chunk;
  }
  if (count < bytes) throw new DownloadError('it is shorter than the signed length', 'changed', 200);
}

/** The socket has errors with codes, too. */
const fileSystemErrors = 'ENOSPC EDQUOT EFBIG EIO EROFS EACCES EPERM ENOENT ENOTDIR EMFILE ENFILE EEXIST'.split(' ');

export const isFileSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && fileSystemErrors.includes(String(error.code));
