import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device, Reply } from '../../sandbox/device/device.ts';
import { stories } from '../../sandbox/stories/index.ts';
import type { Attempt, Target } from '../../sandbox/stories/story.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { catalogue } from '../../src/messages/index.ts';
import { hostileIdentities, hostileObjectIds, hostilePaths } from '../support/hostileNames.ts';
import { bodyOf, nextAck, sandboxForAll } from './testSandbox.ts';

/** Its names occur in no sentence of a service. */
const deviceId = 'zqvictim';
const names = ['zqchamber', 'zqprobe'] as const;
const objectId = 'acef0001-0000-4000-8000-000000000001';
const childId = 'acef0001-0000-4000-8000-000000000002';
const texts = ['zqserial', 'zqname', 'zqfirmware', 'zqkey', 'zqtype', 'zqpart'];
const secrets = [...texts, objectId, childId, deviceId, ...names];

const attackers = [
  { id: 'pump-1', from: 'same tenant', tenant: 'acme', ownId: 'acef0002-0000-4000-8000-000000000001' },
  { id: 'rival-1', from: 'other tenant', tenant: 'globex', ownId: 'acef0003-0000-4000-8000-000000000001' },
];
type Attacker = (typeof attackers)[number];

const devices = new Map<string, Device>();
const sandbox = sandboxForAll();
let victim: Victim;

beforeAll(async () => {
  await admin('/devices', { deviceId, tenant: 'acme', children: [names.join('/')] });
  for (const id of [deviceId, ...attackers.map(({ id }) => id)]) devices.set(id, await sandbox.connect(id));

  const key = { publicKey: 'zqkey' };
  const gateway = { type: 'gateway', name: 'zqname', properties: { serial: 'zqserial', firmware: 'zqfirmware' } };
  const sensor = { type: 'sensor', name: 'zqpart', properties: { quantity: 'flow' } };
  const part = { name: 'contains', to: { objectId: childId, model: 'svc.device' } };
  await succeeds(deviceId, 'identity.update', {}, key);
  await succeeds(deviceId, 'identity.update', { parent: names[0] }, { ...key, identity: names[1] });
  await succeeds(deviceId, 'model.create', {}, { ...gateway, objectId, model: 'svc.device' });
  const child = { ...sensor, objectId: childId, model: 'svc.device' };
  await succeeds(deviceId, 'model.create', { owner: names.join('/') }, child);
  await succeeds(deviceId, 'reference.create', { objectId }, [part]);
  await succeeds(deviceId, 'type.create', {}, { typeId: 'zqtype', version: '1.0.0' });
  for (const { id, ownId } of attackers) {
    const own = { objectId: ownId, model: 'svc.device', type: 'pump', properties: { serial: ownId } };
    await succeeds(id, 'model.create', {}, own);
  }
  const principalId = sandbox.backends.world.principals.device(deviceId)?.id ?? '';
  secrets.push(principalId);
  victim = { deviceId, objectId, childId, serial: 'zqserial', typeId: 'zqtype', principalId, names };
});
afterAll(async () => void (await Promise.all([...devices.values()].map((device) => device.close()))));

describe.each(attackers)('A device of the tenant $tenant', (attacker) => {
  it.each(catalogue)(
    'neither reads nor changes data of another device with $name {S14.4 S19.2}',
    async ({ name: message }) => {
      const story = stories.find((one) => one.message === message);
      const all = story?.attempts(targetOf(victim, attacker.ownId)) ?? [];
      const attempts = all.filter(({ from = attacker.from }) => from === attacker.from);
      expect(attempts.length).toBeGreaterThan(3);
      const before = await worldOfOthers(attacker);
      const known = JSON.stringify(before);
      const unknown = secrets.filter((secret) => !known.includes(secret));
      expect(unknown, 'secrets that are none').toEqual([]);
      const mark = sandbox.hub.journal.last;

      const answers = await askAll(
        attacker.id,
        attempts.map((attempt) => ({ ...attempt, message })),
      );
      for (const [index, attempt] of attempts.entries()) {
        const { notifications, ack } = answers[index] as Answer;
        const { success, code } = bodyOf(ack) as { success: boolean; code: string };
        expect({ ...attempt, success }).toEqual({ ...attempt, success: attempt.isHarmless ?? false });
        expect(['ok', ...refusals], attempt.what).toContain(code);
        expect(leaks([...notifications, ack], attempt), attempt.what).toEqual([]);
      }
      expect(await worldOfOthers(attacker)).toEqual(before);
      expect(sandbox.hub.journal.list({ since: mark, deviceId })).toEqual([]);
    },
  );
});

it('In another tenant the same ids, serial numbers and types are free, and give no access to the victim’s data', async () => {
  const [, rival] = attackers as [Attacker, Attacker];
  const { id } = rival;
  const before = await worldOfOthers(rival);
  const gateway = { objectId, model: 'svc.device', type: 'gateway', properties: { serial: 'zqserial' } };
  const created = await succeeds(id, 'Svc.Device.Created', {}, gateway);
  const type = await succeeds(id, 'type.create', {}, { typeId: 'zqtype', version: '1.0.0' });
  const options = { hierarchical: true, related: ['svc.configuration'] };
  const fetched = await succeeds(id, 'Svc.Device.SyncModel', { objectId, model: 'svc.device' }, options);

  const all = [created, type, fetched].flatMap(({ notifications, ack }) => [...notifications, ack]);
  const attempt = { what: '', body: [gateway, 'zqtype'] };
  expect(leaks(all, attempt)).toEqual([]);
  expect(fetched.notifications).toHaveLength(2);
  expect(await worldOfOthers(rival)).toEqual(before);
});

describe('An object that now belongs to another device', () => {
  it('is not fetched over an old reference, nor named {S15.11}', async () => {
    const spareId = 'acef0004-0000-4000-8000-000000000001';
    const spare = { objectId: spareId, model: 'svc.device', type: 'pump', properties: { serial: 'zqspare' } };
    const [{ id, ownId }] = attackers as [Attacker];
    await admin('/objects', spare);
    const feeds = { name: 'feeds', to: { objectId: spareId, model: 'svc.device' } };
    await succeeds(id, 'reference.create', { objectId: ownId }, [feeds]);
    await succeeds(deviceId, 'model.create', {}, spare);

    const sync = { objectId: ownId, model: 'svc.device' };
    const { notifications, ack } = await succeeds(id, 'Svc.Device.SyncModel', sync, { hierarchical: true });
    expect(notifications.map(({ properties }) => properties['objectId'])).toEqual([ownId]);
    expect(told([...notifications, ack])).not.toContain(spareId);
  });
  it('is not fetched as a related model, without an effect on others', async () => {
    const bareId = 'acef0004-0000-4000-8000-000000000002';
    const sensor = { objectId: bareId, model: 'svc.device', type: 'sensor', properties: { quantity: 'flow' } };
    const type = { model: 'svc.configuration', type: 'gateway.settings' };
    const settings = { objectId: bareId, ...type, properties: { logLevel: 'zqlevel' } };
    const [{ id }] = attackers as [Attacker];
    await succeeds(id, 'model.create', {}, sensor);
    await admin('/objects', settings);
    await succeeds(deviceId, 'model.create', {}, settings);

    const again = await succeeds(id, 'model.create', {}, sensor);
    expect(again.notifications).toEqual([]);
    const sync = { objectId: bareId, model: 'svc.device' };
    const { notifications, ack } = await ask(id, 'Svc.Device.SyncModel', sync, { related: ['svc.configuration'] });
    expect(bodyOf(ack)).toMatchObject({ success: false, code: 'not_authorized' });
    expect(notifications).toEqual([]);
    expect(told([again.ack, ack])).not.toContain('zqlevel');
  });
});

const refusals = ['validation_error', 'platform_event_validation_error', 'not_authorized', 'http_response_error'];

type Question = Pick<Attempt, 'properties' | 'body'> & { readonly message: string };
type Answer = Awaited<ReturnType<typeof nextAck>>;

/** Sends messages, one after the other, and waits for all acknowledgements, which come in the same order. */
async function askAll(device: string, questions: readonly Question[]): Promise<Answer[]> {
  const from = devices.get(device) as Device;
  const sent = questions.map(({ message, properties, body }, index) =>
    from.send({ ...envelope(message, `${index}`), ...properties }, Buffer.from(JSON.stringify(body))),
  );
  const answers: Answer[] = [];
  for (const _ of questions) answers.push(await nextAck(from));
  await Promise.all(sent);
  return answers;
}

async function ask(device: string, message: string, properties: Attempt['properties'], body: unknown): Promise<Answer> {
  const [answer] = await askAll(device, [{ message, ...(properties && { properties }), body }]);
  return answer as Answer;
}

async function succeeds(...question: Parameters<typeof ask>): Promise<Answer> {
  const answer = await ask(...question);
  expect(bodyOf(answer.ack)).toMatchObject({ success: true });
  return answer;
}

const told = (replies: readonly Reply[]): string =>
  JSON.stringify(replies.map((reply) => [reply.properties, bodyOf(reply)]));

/** What replies tell of the victim that the attempt has not named itself. */
function leaks(replies: readonly Reply[], { properties, body }: Attempt): string[] {
  const [said, sent] = [told(replies), JSON.stringify([properties, body])];
  return secrets.filter((secret) => said.includes(secret) && !sent.includes(secret));
}

/** Everything in the backends that is not the attacker's own; types belong to their tenant. */
async function worldOfOthers({ id, tenant }: Attacker) {
  const [objects, principals, types] = await Promise.all(['objects', 'principals', 'types'].map(world));
  return {
    objects: objects?.filter(({ path }) => path?.split('/')[0] !== id),
    principals: principals?.filter(({ device }) => device !== id),
    types: types?.filter((type) => type.tenant !== tenant || (type.typeId === 'zqtype' && type.tenant === 'acme')),
  };
}

type Thing = Readonly<Record<'path' | 'device' | 'tenant' | 'typeId', string | undefined>>;

async function world(part: string): Promise<Thing[]> {
  const response = await fetch(new URL(`/world/${part}`, sandbox.backends.adminUrl));
  return ((await response.json()) as { data: Thing[] }).data;
}

async function admin(path: string, body: unknown): Promise<void> {
  const url = new URL(path, sandbox.backends.adminUrl);
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  expect(response.ok, await response.text()).toBe(true);
}

/** Whom attempts are aimed at: an object with its configuration, a child, identities, a type. */
interface Victim extends Pick<Target, 'deviceId' | 'principalId' | 'objectId' | 'childId' | 'typeId'> {
  readonly serial: string;
  /** Names of identities, from the device on. */
  readonly names: readonly [string, string];
}

/** The victim, and all ways to it that a device with an object `ownId` of its own may try. */
function targetOf(victim: Victim, ownId: string): Target {
  const { deviceId, objectId, childId, serial, principalId, names } = victim;
  const gateway = { model: 'svc.device', type: 'gateway', properties: { serial } };
  const settings = { model: 'svc.configuration', type: 'gateway.settings', properties: { logLevel: 'off' } };
  const sensor = { model: 'svc.device', type: 'sensor', properties: { quantity: 'none' } };

  const paths = [deviceId, names.join('/'), `${deviceId}/${names[0]}`, `../${deviceId}`, `%2e%2e/${deviceId}`];
  const childNames = [deviceId, names[0], `${deviceId}/${names[0]}`, `../${deviceId}`, `..%2f${deviceId}`, principalId];
  const objectIds = [`../${objectId}`, `${ownId}/../${objectId}`, `${ownId}%2f..%2f${objectId}`, `${objectId}/owner`];
  const models = [
    '../svc.device',
    `svc.device/../../../${objectId}/models/svc.device`,
    'a/b',
    '%2f',
    '..',
    '..svc.device',
  ];

  const hostilePlaces = [
    ...[...objectIds, ...hostileObjectIds].map((objectId) => ({
      what: `the object id ${objectId}`,
      properties: { objectId, model: 'svc.device' },
    })),
    ...models.map((model) => ({ what: `the model ${model}`, properties: { objectId: ownId, model } })),
  ];
  return {
    ...victim,
    ...{ ownId, gateway, sensor, pump: { type: 'pump', properties: { serial: ownId } }, objectIds, models },
    hostileAddresses: hostilePlaces,
    addresses: [
      { what: 'its object', properties: { objectId, model: 'svc.device' } },
      { what: 'its configuration', properties: { objectId, model: 'svc.configuration' } },
      { what: 'its child', properties: { objectId: childId, model: 'svc.device' } },
      ...hostilePlaces,
    ],
    registrations: [
      { what: 'its object id', body: { ...gateway, objectId } },
      { what: 'the object id of its configuration', body: { ...settings, objectId } },
      { what: 'the object id of its child', body: { ...sensor, objectId: childId } },
      { what: 'its serial number', body: gateway },
    ].map((one) => ({ ...one, from: 'same tenant' as const })),
    owners: [...paths, ...hostilePaths].map((owner) => ({
      ...{ what: `the owner ${owner}`, properties: { owner }, body: sensor },
    })),
    identities: [
      ...[...childNames, ...hostileIdentities.map(([name]) => name)].map((identity) => ({
        what: `the identity ${identity}`,
        body: { identity },
      })),
      ...[...paths, ...hostilePaths].map((parent) => ({
        ...{ what: `the parent ${parent}`, properties: { parent }, body: { identity: names[1] } },
      })),
    ],
  };
}
