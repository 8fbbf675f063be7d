import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startAuthority } from '../src/authority/authority.ts';
import { startHub } from '../src/hub.ts';
import { createAccess } from '../src/identity/access.ts';
import { createCaCertificates } from '../src/identity/caCertificates.ts';
import type { Right } from '../src/identity/policies.ts';
import { createRegistry } from '../src/identity/registry.ts';
import { deviceMessage } from './support/clients.ts';
import { eventConsumer, openDevice } from './support/eventClients.ts';
import { folderForAll, startForAll } from './support/fixtures.ts';
import { printed } from './support/printed.ts';

// Entra identities instead of keys: tokens of the stand-in, taken by the hub or refused.

const program = new URL('./support/identityUnmodified.ts', import.meta.url);
const worker = { clientId: randomUUID(), objectId: randomUUID(), federatedToken: 'projected-1' };
const stranger = { clientId: randomUUID(), objectId: randomUUID(), federatedToken: 'projected-2' };
const forger = { clientId: randomUUID(), objectId: randomUUID(), federatedToken: 'projected-3' };
const rights: Record<string, Right[]> = {
  [worker.objectId]: ['messageSend', 'methodInvoke', 'routedListen'],
  [forger.objectId]: ['routedSend'],
};

const certificates = createCaCertificates(Date.now);
const directory = folderForAll('identity');
const authority = startForAll(() => startAuthority({ directory, principals: [worker, stranger, forger] }));
const hub = startForAll(() =>
  startHub({
    ...{ directory, devices: [{ deviceId: 'pump-1' }], authority: { ...authority.trust, rights } },
    routeTo: { name: 'routed', partitions: 2 },
  }),
);

const run = (variables: Readonly<Record<string, string>>, what: string, ...more: readonly string[]) =>
  printed(program, [what, 'localhost', String(hub.ports.amqps), ...more], authority.caFile, variables);

async function federated({ clientId, federatedToken = '' }: typeof worker) {
  const file = join(directory, clientId);
  await writeFile(file, federatedToken);
  const own = { AZURE_CLIENT_ID: clientId, AZURE_FEDERATED_TOKEN_FILE: file };
  return { AUTHORITY: authority.url, AZURE_TENANT_ID: authority.tenantId, ...own };
}

describe('the official clients with the token', () => {
  test('of a file send to a device', async () => {
    expect(await run(await federated(worker), 'send', 'pump-1', 'hello')).toBe('MessageEnqueued');
    expect(hub.devicebound.pending('pump-1')).toMatchObject([{ body: Buffer.from('hello') }]);
    expect(authority.requests.at(-1)).toEqual({
      by: 'federation',
      clientId: worker.clientId,
      resource: 'https://iothubs.azure.net',
      granted: true,
    });
  });
  test.each(['machine', 'appService'] as const)('of the platform send to a device: %s', async (kind) =>
    expect(await run(authority[kind], 'send', 'pump-1', 'hello')).toBe('MessageEnqueued'),
  );
  test('of a principal without a role are refused', async () =>
    expect(await run(await federated(stranger), 'send', 'pump-1', 'no')).toMatch(/has no role here/));

  test('of a file that the authority does not know get none', async () => {
    const outcome = await run(await federated({ ...worker, federatedToken: 'other' }), 'send', 'pump-1', 'no');
    expect(outcome).toContain('AADSTS700213');
  });
});

describe('the event hub behind the route', () => {
  test('has what devices send, with the hub’s stamps, and the built-in endpoint has nothing of it', async () => {
    const pump = await openDevice(hub, 'pump-1');
    await pump.sendEvent(deviceMessage('{}'));
    const read = JSON.parse(await run(await federated(worker), 'read', 'routed'));
    expect(read).toMatchObject({ partitions: 2, stamps: { 'iothub-connection-device-id': 'pump-1' } });
    expect(hub.partitions.map((partition) => partition.next())).toEqual([0, 0, 0, 0]);
  });
  test('takes the stamps of every sender: the right to send is the right to be any device', async () => {
    const before = hub.routedPartitions.map((partition) => partition.next());
    expect(await run(await federated(forger), 'write', 'routed', 'pump-9')).toBe('sent');
    const sent = hub.routedPartitions.flatMap((partition, i) => partition.at(before[i] ?? 0)?.bytes.toString() ?? []);
    expect(sent.join()).toContain('pump-9');
  });
  test('lets nobody read who may only send, nor the other way round', async () => {
    expect(await run(await federated(forger), 'read', 'routed')).toMatch(/'Listen' claim/);
    expect(await run(await federated(worker), 'write', 'routed', 'pump-9')).toMatch(/'Send' claim/);
  });
  test('knows no keys', async () => {
    const withKey = hub.eventHubConnectionString('iothubowner').replace(/EntityPath=[^;]+/, 'EntityPath=routed');
    await expect(eventConsumer(hub, withKey).getPartitionIds()).rejects.toThrow(/'Listen' claim/);
  });
});

describe('a token', () => {
  const hubScope = 'https://iothubs.azure.net/.default';
  const listenAt = 'sb://localhost/routed/ConsumerGroups/$Default/Partitions/0';
  const access = (at = Date.now()) =>
    createAccess({
      hubName: 'hub',
      policies: new Map(),
      registry: createRegistry(() => at),
      ...{ certificates, authority: { ...authority.trust, rights }, routedHub: 'routed' },
      now: () => at,
    });
  const issue = (resource: string, seconds = 600, { objectId } = worker) =>
    authority.issue(objectId, resource, seconds);

  test('gives what its principal may do, at the hub and at the event hub each its own', () => {
    const ofHub = access().claim(`Bearer ${issue('https://iothubs.azure.net')}`, hubScope);
    expect([...ofHub.rights]).toEqual(['messageSend', 'methodInvoke']);
    const ofEvents = access().claim(issue('https://eventhubs.azure.net/'), listenAt);
    expect(ofEvents).toMatchObject({ rights: new Set(['routedListen']), path: ['routed'] });
  });
  test.each([
    ['for another resource', () => issue('https://storage.azure.com'), hubScope, /InvalidAudience/],
    ['for event hubs, at the hub', () => issue('https://eventhubs.azure.net'), hubScope, /InvalidAudience/],
    ['for the hub, at an event hub', () => issue('https://iothubs.azure.net'), listenAt, /InvalidAudience/],
    ['forged', () => `${issue('https://iothubs.azure.net').slice(0, -8)}AAAAAAAA`, hubScope, /Signature/],
    ['without a role', () => issue('https://iothubs.azure.net', 600, stranger), hubScope, /no role/],
    ['for another event hub', () => issue('https://eventhubs.azure.net'), 'sb://localhost/other', /built-in/],
  ])('%s is refused', (_, token, audience, reason) =>
    expect(() => access().claim(`Bearer ${token()}`, audience)).toThrow(reason),
  );
  test('counts until its end, as the hub’s clock says', () => {
    const token = `Bearer ${issue('https://iothubs.azure.net', 60)}`;
    expect(access(Date.now() + 30_000).claim(token, hubScope).policy).toBe(worker.objectId);
    expect(() => access(Date.now() + 61_000).claim(token, hubScope)).toThrow(/ExpiredToken/);
  });
  test('of an authority that the hub does not trust is refused', () => {
    const { policies, registry } = { policies: new Map(), registry: createRegistry(Date.now) };
    const alone = createAccess({ hubName: 'hub', policies, registry, certificates, now: Date.now });
    expect(() => alone.claim(`Bearer ${issue('https://iothubs.azure.net')}`, hubScope)).toThrow(/Signature/);
  });
});

test('the built-in endpoint takes no token of an identity', async () =>
  expect(await run(await federated(worker), 'read', hub.name)).toMatch(/shared access signatures only/));
