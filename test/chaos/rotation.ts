import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hub } from 'iot-hub-emulator';
import type { Backends } from '../../sandbox/backends/backends.ts';
import { createSecretVolume } from '../support/secretVolume.ts';
import type { Storage } from './storage.ts';

export type RotatedSecret = 'events' | 'service' | 'storage' | 'client';

type Key = 'primaryKey' | 'secondaryKey';

const variables: Readonly<Record<RotatedSecret, string>> = {
  events: 'HUB_EVENTS_CONNECTION_STRING',
  service: 'HUB_SERVICE_CONNECTION_STRING',
  storage: 'STORE_CONNECTION_STRING',
  client: 'BACKENDS_CLIENT_SECRET',
};

/**
 * The secrets of all instances, in a folder that all have mounted.
 * @param storage the account that the instances use, if they use one
 */
export function createRotation(directory: string, hub: Hub, backends: Backends, storage?: Storage) {
  const used: Record<'events' | 'service', Key> = { events: 'primaryKey', service: 'primaryKey' };
  const secrets: readonly RotatedSecret[] = ['events', 'service', 'client', ...(storage ? (['storage'] as const) : [])];
  let clientSecret = backends.token.clientSecret;
  const ofHub = {
    events: () => hub.eventHubConnectionString('events', used.events),
    service: () => hub.connectionString('service', used.service),
  };
  const volume = createSecretVolume(directory, {
    [variables.events]: ofHub.events(),
    [variables.service]: ofHub.service(),
    ...(storage && { [variables.storage]: storage.connectionString() }),
    [variables.client]: clientSecret,
  });
  const put = (secret: RotatedSecret, value: string) => volume.put({ [variables[secret]]: value });

  async function rotateKey(policy: 'events' | 'service', afterMs: number) {
    const old = used[policy];
    used[policy] = old === 'primaryKey' ? 'secondaryKey' : 'primaryKey';
    put(policy, ofHub[policy]());
    await sleep(afterMs);
    await hub.renewKey(policy, old);
  }

  async function rotateClientSecret(afterMs: number) {
    const old = clientSecret;
    clientSecret = randomBytes(24).toString('base64url');
    backends.token.setSecrets(old, clientSecret);
    put('client', clientSecret);
    await sleep(afterMs);
    backends.token.setSecrets(clientSecret);
    backends.token.revokeAll();
  }

  /** One after the other, so that each finds the secret of the last. */
  let turn: Promise<void> = Promise.resolve();
  async function rotateNow(secret: RotatedSecret, afterMs: number): Promise<void> {
    if (secret === 'client') return rotateClientSecret(afterMs);
    if (secret !== 'storage') return rotateKey(secret, afterMs);
    if (storage === undefined) throw new Error('the instances use no storage account');
    put('storage', storage.otherConnectionString());
    await sleep(afterMs);
    await storage.renewKey();
  }

  return {
    files: Object.fromEntries(secrets.map((secret) => [`${variables[secret]}_FILE`, volume.file(variables[secret])])),
    secrets,
    /**
     * Puts another secret into its file and has the old one refused `afterMs` later, as an operator with two keys does. Links
     * that were opened with the old one stay.
     */
    rotate(secret: RotatedSecret, afterMs: number) {
      turn = turn.then(() => rotateNow(secret, afterMs));
      return turn;
    },
  };
}
