import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Refusal } from '../values/refusal.ts';
import { readIfThere, writeWhole } from './secretFile.ts';

export const identityRights = ['messageSend', 'methodInvoke', 'routedListen', 'routedSend'] as const;

/**
 * What a token may be used for. `listen` and `send` are the event side, the others are IoT Hub's permissions. Only
 * identities have those of `identityRights`: parts of service connect, as data actions of a role, and the event hub that a route leads to.
 */
export type Right =
  | 'listen'
  | 'send'
  | 'serviceConnect'
  | 'deviceConnect'
  | 'registryRead'
  | 'registryWrite'
  | (typeof identityRights)[number];

export const keyNames = ['primaryKey', 'secondaryKey'] as const;

/** Which of the two keys of a policy. */
export type KeyName = (typeof keyNames)[number];

/** A shared access policy: its name, the two keys (base64) of which either may sign tokens, and what they may do. */
export interface Policy extends Readonly<Record<KeyName, string>> {
  readonly name: string;
  readonly rights: ReadonlySet<Right>;
}

/** The policies of a hub. */
export interface Policies {
  /** By name. */
  readonly all: ReadonlyMap<string, Policy>;
  /**
   * Give a policy another key in the place of one of the two. Tokens that were signed with the old one are no longer believed;
   * what they have opened stays open until they expire (H6).
   */
  renewKey(name: string, which?: KeyName): Promise<void>;
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
 * The hub's policies by name. Keys are made at the first start and kept in `directory`/policies.json (0600), unless all have
 * `given` ones, which are not stored: no later hub has them by accident. The owner may send events if `ownerMaySend` says so.
 */
export async function ensurePolicies(directory: string, ownerMaySend = false, given?: Keys): Promise<Policies> {
  const file = join(directory, 'policies.json');
  const text = given ? undefined : await readIfThere(file);
  const stored = text === undefined ? {} : (JSON.parse(text) as Record<string, string | Keys>);
  const policies = new Map<string, Policy>();
  const set = (name: string, keys: Keys): void => {
    const sending: Right[] = name === 'iothubowner' && ownerMaySend ? ['send'] : [];
    policies.set(name, { name, ...keys, rights: new Set([...(rightsOf[name] ?? []), ...sending]) });
  };
  const write = async () => {
    if (given) return;
    const keys = [...policies.values()].map(
      ({ name, primaryKey, secondaryKey }) => [name, { primaryKey, secondaryKey }] as const,
    );
    await writeWhole(file, `${JSON.stringify(Object.fromEntries(keys), undefined, 2)}\n`);
  };
  for (const name of Object.keys(rightsOf)) set(name, given ?? keysIn(stored[name]));
  if (Object.keys(rightsOf).some((name) => typeof stored[name] !== 'object')) await write();

  return {
    all: policies,
    async renewKey(name, which = 'primaryKey') {
      const policy = policies.get(name);
      if (!policy) throw new Refusal('amqp:not-found', `The hub has no policy ${name}.`);
      const { primaryKey, secondaryKey } = policy;
      set(name, { primaryKey, secondaryKey, [which]: newKey() });
      await write();
    },
  };
}

type Keys = Readonly<Record<KeyName, string>>;

/** An older file has one key for each policy. */
const keysIn = (stored: string | Keys | undefined): Keys =>
  typeof stored === 'object' ? stored : { primaryKey: stored ?? newKey(), secondaryKey: newKey() };

const newKey = () => randomBytes(32).toString('base64');
