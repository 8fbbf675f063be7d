import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from './tokens.ts';

/** The backends' client: created at the first start, stored in `directory`, readable by its owner only. */
export function loadOrCreateClient(directory: string | undefined): Client {
  const created: Client = { clientId: 'device-messaging-service', clientSecret: randomBytes(24).toString('base64url') };
  if (directory === undefined) return created;
  const file = join(directory, 'client.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(file, JSON.stringify(created), { mode: 0o600 });
  return created;
}
