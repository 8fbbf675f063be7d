import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../../iot-hub-emulator/src/values/makeDirectory.ts';
import type { Client } from './tokens.ts';

/** The backends' client, made at first start; `directory` keeps it, readable by its owner only. */
export function keepClient(directory: string | undefined): Client {
  const made: Client = { clientId: 'device-messaging-service', clientSecret: randomBytes(24).toString('base64url') };
  if (directory === undefined) return made;
  const file = join(directory, 'client.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  makeDirectory(directory);
  writeFileSync(file, JSON.stringify(made), { mode: 0o600 });
  return made;
}
