import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../identity/secretFile.ts';

/** The token of an admin port that other machines can reach (H31). It is made at the first start and kept in `directory`/admin-token (0600). */
export async function ensureAdminToken(directory: string): Promise<string> {
  const file = join(directory, 'admin-token');
  const stored = (await readIfThere(file))?.trim();
  if (stored) return stored;
  const token = randomBytes(32).toString('base64url');
  await writeWhole(file, `${token}\n`);
  return token;
}

// Authorization: Bearer TOKEN

/** Whether a request has the token. */
export function hasToken({ headers }: IncomingMessage, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
