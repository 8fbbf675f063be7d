import type { IncomingMessage } from 'node:http';
import { readBody } from '../../../iot-hub-emulator/src/http/body.ts';
import { Problem } from '../requests/problem.ts';

/** No body larger than this is read, in bytes. */
export const BODY_LIMIT = 8 * 1024 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const tooLarge = () => new Problem(413, 'Too large', `the body is over ${BODY_LIMIT} bytes`);

/** Reads a whole body as text. Over the limit → 413, not UTF-8 → 400, both as the problem to answer with. */
export async function readText(request: IncomingMessage): Promise<string | Problem> {
  try {
    return decode(await readBody(request, BODY_LIMIT, tooLarge));
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Problem(400, 'Validation failed', 'the body is not UTF-8');
  }
}
