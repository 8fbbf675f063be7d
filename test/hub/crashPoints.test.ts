import { tmpdir } from 'node:os';
import type { AxiosAdapter } from 'axios';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Backends as Sandbox, startBackends } from '../../sandbox/backends/backends.ts';
import { createBackends } from '../../src/backends/backends.ts';
import { createTransport } from '../../src/backends/transport.ts';
import { readSettings } from '../../src/config.ts';
import { createDispatch } from '../../src/dispatch.ts';
import { createBudget } from '../../src/hub/budget.ts';
import { createPartition, type Progress } from '../../src/hub/partition.ts';
import { openSpool } from '../../src/hub/spool.ts';
import { createLog } from '../../src/log.ts';
import { createCounters } from '../../src/operations/counters.ts';
import type { Reply } from '../../src/protocol/c2d.ts';
import { classify, type HubEvent, senderOf } from '../../src/protocol/event.ts';
import { hubEvent } from '../support/events.ts';
import { mortal } from '../support/mortal.ts';
import { hub } from './support/hubSettings.ts';

// The process dies at each await point of a message's path, one after the other: before and after every call of a
// backend, every reply, every dead letter, every checkpoint. The next process, over the same backends and the same
// checkpoint, must bring everything to the same end as if nobody had died.

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startBackends({ seed: true });
});
afterAll(() => sandbox.close());

/** What is left of a process when it is gone. */
interface Remains {
  progress: Progress | undefined;
  replies: Reply[];
  parked: number;
}

/**
 * One life of the service: it handles events until their checkpoint is written, or until it dies.
 * @param horizon newest event when it began
 * @returns how many await points it came to
 */
async function live(
  events: readonly HubEvent[],
  horizon: number,
  remains: Remains,
  crashAt = Number.POSITIVE_INFINITY,
) {
  const life = mortal(crashAt);
  const settings = readSettings(
    {
      ...hub,
      INFORMATION_MODEL_URL: sandbox.informationModelUrl,
      TYPE_REGISTRY_URL: sandbox.typeRegistryUrl,
      PRINCIPAL_MANAGER_URL: sandbox.principalManagerUrl,
      BACKENDS_TOKEN_URL: sandbox.token.url,
      BACKENDS_CLIENT_ID: sandbox.token.clientId,
      BACKENDS_CLIENT_SECRET: sandbox.token.clientSecret,
    },
    'no-such-directory',
  );
  const log = createLog('silent');
  const transports = {
    devices: createTransport(sandbox.principalManagerUrl, { connections: 4, attemptTimeoutMs: 5_000 }),
    modelDefinitions: createTransport(sandbox.typeRegistryUrl, { connections: 4, attemptTimeoutMs: 5_000 }),
    other: createTransport(sandbox.informationModelUrl, { connections: 4, attemptTimeoutMs: 5_000 }),
  };
  const adapter: AxiosAdapter = (config) => {
    const [, root] = config.url?.split(/[/?]/) ?? [];
    const { adapter: send } = transports[root === 'devices' || root === 'modelDefinitions' ? root : 'other'];
    return life.step(() => send(config));
  };
  const backends = createBackends(settings.backends, log, { adapter, random: () => 0 });
  const dispatch = createDispatch({
    backends,
    counters: createCounters(),
    deadLetters: {
      park: () =>
        life.step(async () => {
          remains.parked += 1;
        }),
    },
    sender: {
      send: (reply) =>
        life.step(async () => {
          remains.replies.push(reply);
          return 'delivered' as const;
        }),
      stop() {},
    },
    log,
    limits: settings.messages,
    now: () => new Date('2026-01-02T03:04:06.789Z'),
  });
  const spool = openSpool(tmpdir(), `spool-${process.pid}-${Math.random()}`, 1e6);
  const last = events.at(-1)?.sequenceNumber ?? -1;
  let finished = () => {};
  const end = new Promise<void>((resolve) => {
    finished = resolve;
  });
  const partition = createPartition({
    budget: createBudget({ maxMessages: 10, maxBytes: 1e6 }),
    spool,
    progress: remains.progress,
    horizon,
    arrivalOf(event, mayBeRepeat) {
      const [generation, deviceId] = [classify(event), senderOf(event, settings.hub.deviceIdProperty)];
      if (generation === undefined || deviceId === undefined) throw new Error('not a message of ours');
      return { event, generation, deviceId, origin: { hub: 'hub', partition: '0' }, mayBeRepeat };
    },
    dispatch,
    async checkpoint(progress) {
      await life.step(async () => {
        remains.progress = progress;
      });
      if (progress.sequenceNumber === last) finished();
      return true;
    },
    onTrouble(error) {
      throw error;
    },
    onGivenUp() {},
    limits: { everyMessages: 1, everyMs: 5_000, deviceMessages: 16, maxMapBytes: 1000 },
  });
  await partition.admit(events);
  const died = await Promise.race([end, life.death]);
  partition.abandon();
  spool.close();
  await Promise.all([backends.close(), ...Object.values(transports).map(({ close }) => close())]);
  return { points: life.points(), died: died === 'died' };
}

/** Everything the backends know, but for what they remember of requests. */
const world = () =>
  [sandbox.world.types, sandbox.world.principals, sandbox.world.objects]
    .flatMap((part) => part.dump().map((change) => JSON.stringify(change)))
    .sort();

const idOf = (digit: string) => `${digit.repeat(8)}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`;
const [pumpId, meterId, gatewayId, sensorId] = ['a', 'b', 'c', 'd'].map(idOf) as [string, string, string, string];

interface Message {
  readonly device: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const v2 = (
  action: string,
  body: unknown,
  more: Readonly<Record<string, string>> = {},
  device = 'pump-1',
): Message => ({
  device,
  properties: { msgType: 'action', action, version: '2', correlationId: action, ack: 'all', ...more },
  body,
});
const v1 = (eventType: string, body: unknown, more: Readonly<Record<string, string>> = {}): Message => ({
  device: 'gateway-1',
  properties: { 'svc-messagetype': 'platformEvent', eventType, id: eventType, ack: 'all', ...more },
  body,
});

const pump = { model: 'svc.device', type: 'pump', properties: { serial: 'FP-1' } };
const createPump = v2('model.create', { ...pump, objectId: pumpId });
const createMeter = v2('model.create', {
  model: 'svc.device',
  type: 'sensor',
  objectId: meterId,
  properties: { quantity: 'flow' },
});
const gateway = { type: 'gateway', properties: { serial: 'GW-1' } };
const createGateway = v1('Svc.Device.Created', gateway, { objectId: gatewayId });
const sensor = { type: 'sensor', properties: { quantity: 'temperature' } };
const createSensor = v1(
  'Svc.Device.Created',
  { ...sensor, parent: { objectId: gatewayId, reference: 'contains' } },
  { objectId: sensorId, owner: 'edge/sensor-1', target: 'edge/sensor-1' },
);
const inEdge = { parent: 'edge' };

const messages: readonly (readonly [title: string, message: Message, before: readonly Message[]])[] = [
  ['model.create, by unique properties', v2('model.create', pump), []],
  [
    'model.create, new each time',
    v2('model.create', { model: 'svc.device', type: 'sensor', properties: { quantity: 'flow' } }),
    [],
  ],
  ['model.create of what is there', v2('model.create', pump), [createPump]],
  [
    'model.update',
    v2('model.update', { ...pump, variables: { pressure: 3 }, version: 1 }, { objectId: pumpId }),
    [createPump],
  ],
  [
    'model.update that closes a gap',
    v2('model.update', { ...pump, variables: { pressure: 3 }, version: 3 }, { objectId: pumpId }),
    [createPump],
  ],
  ['type.create', v2('type.create', { typeId: 'valve', version: '1.0.0', properties: {} }), []],
  [
    'reference.create',
    v2('reference.create', [{ name: 'contains', to: { objectId: meterId, model: 'svc.device' }, attributes: {} }], {
      objectId: pumpId,
    }),
    [createPump, createMeter],
  ],
  ['identity.update', v2('identity.update', { identity: 'sensor-1', publicKey: 'key' }, inEdge, 'gateway-1'), []],
  ['identity.delete', v2('identity.delete', { identity: 'sensor-1' }, inEdge, 'gateway-1'), []],
  ['Svc.Device.Created', createSensor, [createGateway]],
  ['Svc.Device.Created of what is there', createSensor, [createGateway, createSensor]],
  [
    'Svc.Device.Updated',
    v1('Svc.Device.Updated', { ...gateway, variables: {}, version: 2 }, { objectId: gatewayId }),
    [createGateway],
  ],
  [
    'Svc.Device.SyncModel',
    v1(
      'Svc.Device.SyncModel',
      { hierarchical: true, related: ['svc.configuration'] },
      { objectId: gatewayId, model: 'svc.device' },
    ),
    [createGateway, createSensor],
  ],
];

/** A fresh world in which `before` has happened; the message stands behind it in the partition. */
async function begin(message: Message, before: readonly Message[]) {
  sandbox.world.reset();
  const events = [...before, message].map((one, sequenceNumber) => hubEvent({ ...one, sequenceNumber }));
  const remains: Remains = { progress: undefined, replies: [], parked: 0 };
  if (before.length > 0) await live(events.slice(0, -1), -1, remains);
  remains.replies = [];
  return { remains, events: events.slice(-1), newest: before.length };
}

/**
 * The one answer that a death may change: after it nobody can tell an identity that this very message deleted from one
 * that never was, and the second is what most repeats of a delete are about. The backends are right in any case.
 */
const gone = 'the principal manager knows no such identity below this device';
const alike = (replies: readonly Reply[]) =>
  byId(replies.map((one) => (one.body.includes(gone) ? { ...one, body: deleted } : one)));
const deleted = '{"success":true,"code":"ok","detail":"","parent":"edge","identity":"sensor-1"}';

const byId = (replies: readonly Reply[]) => new Map(replies.map((reply) => [reply.messageId, reply]));

describe('a process that dies anywhere in the path of a message', () => {
  it.each(messages)('%s', { timeout: 30_000 }, async (title, message, before) => {
    const whole = await begin(message, before);
    const { points } = await live(whole.events, -1, whole.remains);
    const expected = { world: world(), replies: byId(whole.remains.replies) };
    expect(whole.remains.replies.at(-1)?.body).toContain('"success":true');
    expect(points).toBeGreaterThan(4);

    for (let crashAt = 1; crashAt <= points; crashAt += 1) {
      const { remains, events, newest } = await begin(message, before);
      expect((await live(events, -1, remains, crashAt)).died).toBe(true);
      const isWritten = remains.progress?.sequenceNumber === newest;
      if (!isWritten) await live(events, newest, remains);
      const place = `died at point ${crashAt} of ${points}`;
      expect(world(), place).toEqual(expected.world);
      expect(title === 'identity.delete' ? alike(remains.replies) : byId(remains.replies), place).toEqual(
        expected.replies,
      );
      expect(remains.parked, place).toBe(0);
    }
  });
});
