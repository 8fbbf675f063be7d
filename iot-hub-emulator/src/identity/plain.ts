import { createHash, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../values/refusal.ts';
import type { Access } from './access.ts';
import type { Claim } from './claim.ts';
import type { Policy, Right } from './policies.ts';
import { parseSas } from './sas.ts';

// IoT Hub: {policy}@sas.root.{hub} or {device}@sas.{hub}, and a token. Event Hubs: {policy}, and its key.
const hubLevel = /^(?<who>[^@]+)@sas\.root\./i;
const ofDevice = /^(?<who>.+)@sas\./i;
const eventRights: readonly Right[] = ['listen', 'send'];

/** What a name and a password of SASL PLAIN allow. Refuses with `amqp:unauthorized-access`. */
export function claimByPassword(
  username: string,
  password: string,
  { access, policies }: { access: Access; policies: ReadonlyMap<string, Policy> },
): Claim {
  const policy = hubLevel.exec(username)?.groups?.['who'];
  const device = policy === undefined ? ofDevice.exec(username)?.groups?.['who'] : undefined;
  if (policy === undefined && device === undefined) return claimByKey(policies.get(username), password);
  const claim = access.claim(password, parseSas(password)?.resource ?? '');
  if (policy === undefined ? claim.clientId !== device : claim.policy !== policy)
    throw new Refusal('amqp:unauthorized-access', 'The token belongs to another policy or device than the name.');
  return claim;
}

function claimByKey(policy: Policy | undefined, key: string): Claim {
  const isKey = (one: string) => timingSafeEqual(digest(one), digest(key));
  if (!policy || ![policy.primaryKey, policy.secondaryKey].some(isKey))
    throw new Refusal('amqp:unauthorized-access', 'There is no such policy, or it has another key.');
  const rights = new Set(eventRights.filter((right) => policy.rights.has(right)));
  return { policy: policy.name, rights, clientId: undefined, path: [], expiresAt: Number.POSITIVE_INFINITY };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
