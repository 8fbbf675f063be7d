import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readIfThere, writeWhole } from './secretFile.ts';

/**
 * What a token may be used for. `listen` and `send` are the event side, the others are IoT Hub's permissions. Only
 * identities have the last four: parts of service connect, as data actions of a role, and the event hub that a route leads to.
 */
export type Right =
  | 'listen'
  | 'send'
  | 'serviceConnect'
  | 'deviceConnect'
  | 'registryRead'
  | 'registryWrite'
  | 'messageSend'
  | 'methodInvoke'
  | 'routedListen'
  | 'routedSend';

/** A shared access policy: the name and key (base64) that tokens are signed with, and what they may do. */
export interface Policy {
  readonly name: string;
  readonly key: string;
  readonly rights: ReadonlySet<Right>;
}

/** The policies of a hub. */
export interface Policies {
  /** By name. */
  readonly all: ReadonlyMap<string, Policy>;
  /** Give a policy another key. Tokens that were signed with the old one are no longer believed. */
  renewKey(name: string): Promise<void>;
}

// The five that every IoT hub is born with, and one of least privilege for those that only read events. None may send to the
// event endpoint.
const rightsOf: Record<string, readonly Right[]> = {
  iothubowner: ['listen', 'serviceConnect', 'deviceConnect', 'registryRead', 'registryWrite'],
  service: ['listen', 'serviceConnect'],
  device: ['deviceConnect'],
  registryRead: ['registryRead'],
  registryReadWrite: ['registryRead', 'registryWrite'],
  events: ['listen'],
};

/**
 * The hub's policies by name. Keys are made at the first start and kept in `directory`/policies.json (0600). The owner may
 * send events if `ownerMaySend` says so.
 */
export async function ensurePolicies(directory: string, ownerMaySend = false): Promise<Policies> {
  const file = join(directory, 'policies.json');
  const write = (all: Readonly<Record<string, string>>) => writeWhole(file, `${JSON.stringify(all, undefined, 2)}\n`);
  const text = await readIfThere(file);
  const stored = text === undefined ? {} : (JSON.parse(text) as Record<string, string>);
  const keys = Object.fromEntries(Object.keys(rightsOf).map((name) => [name, stored[name] ?? newKey()]));
  if (Object.keys(keys).some((name) => stored[name] === undefined)) await write(keys);
  const policies = new Map<string, Policy>();
  const set = (name: string, key: string): void => {
    const sending: Right[] = name === 'iothubowner' && ownerMaySend ? ['send'] : [];
    policies.set(name, { name, key, rights: new Set([...(rightsOf[name] ?? []), ...sending]) });
  };
  for (const [name, key] of Object.entries(keys)) set(name, key);

  return {
    all: policies,
    async renewKey(name) {
      if (!policies.has(name)) throw new Error(`The hub has no policy ${name}.`);
      set(name, newKey());
      await write(Object.fromEntries([...policies.values()].map((policy) => [policy.name, policy.key])));
    },
  };
}

const newKey = () => randomBytes(32).toString('base64');
