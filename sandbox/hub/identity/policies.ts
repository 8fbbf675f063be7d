import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readIfThere, writeWhole } from './secretFile.ts';

/** What a token may be used for. `listen` and `send` are the event side, the others are IoT Hub's permissions. */
export type Right = 'listen' | 'send' | 'serviceConnect' | 'deviceConnect' | 'registryRead' | 'registryWrite';

/** A shared access policy: the name and key (base64) that tokens are signed with, and what they may do. */
export interface Policy {
  name: string;
  key: string;
  rights: ReadonlySet<Right>;
}

// The five that every IoT hub is born with, and one of least privilege for those that only read events.
const rightsOf: Record<string, readonly Right[]> = {
  iothubowner: ['listen', 'send', 'serviceConnect', 'deviceConnect', 'registryRead', 'registryWrite'],
  service: ['listen', 'serviceConnect'],
  device: ['deviceConnect'],
  registryRead: ['registryRead'],
  registryReadWrite: ['registryRead', 'registryWrite'],
  events: ['listen'],
};

/** The hub's policies by name. Keys are made at the first start and kept in `directory`/policies.json (0600). */
export async function ensurePolicies(directory: string): Promise<ReadonlyMap<string, Policy>> {
  const file = join(directory, 'policies.json');
  const text = await readIfThere(file);
  const stored = text === undefined ? {} : (JSON.parse(text) as Record<string, string>);
  const keys = Object.fromEntries(
    Object.keys(rightsOf).map((name) => [name, stored[name] ?? randomBytes(32).toString('base64')]),
  );
  if (Object.keys(keys).some((name) => stored[name] === undefined))
    await writeWhole(file, `${JSON.stringify(keys, undefined, 2)}\n`);
  return new Map(
    Object.entries(keys).map(([name, key]) => [name, { name, key, rights: new Set(rightsOf[name] ?? []) }]),
  );
}
