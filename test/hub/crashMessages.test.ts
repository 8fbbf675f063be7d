import { expect, it } from 'vitest';
import { byId, crashingForAll } from './support/crashing.ts';
import { type Message, v1, v2 } from './support/messages.ts';

// The process dies at each await point of a message's path, one after the other: before and after every call of a
// backend or the token endpoint, every reply, every dead letter, every checkpoint. The next process, over the same
// backends and the same checkpoint, must bring everything to the same end as if nobody had died.

const service = crashingForAll();

const idOf = (digit: string) => `${digit.repeat(8)}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`;
const [pumpId, meterId, gatewayId, sensorId] = ['a', 'b', 'c', 'd'].map(idOf) as [string, string, string, string];

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

it.each(messages)('a process that dies at any step of a message %s', async (_title, message, before) => {
  const { begin, live, world } = service;
  const whole = await begin([message], before);
  const { points } = await live(whole.events, -1, whole.remains);
  const expected = { world: world(), replies: byId(whole.remains.replies) };
  expect(whole.remains.replies.at(-1)?.body).toContain('"success":true');
  expect(points).toBeGreaterThan(6);

  for (let crashAt = 1; crashAt <= points; crashAt += 1) {
    const { remains, events, newest } = await begin([message], before);
    expect((await live(events, -1, remains, { crashAt })).died).toBe(true);
    const isWritten = remains.progress?.sequenceNumber === newest;
    if (!isWritten) await live(events, newest, remains);
    const place = `died at point ${crashAt} of ${points}`;
    expect(world(), place).toEqual(expected.world);
    expect(byId(remains.replies), place).toEqual(expected.replies);
    expect(await remains.letters.list(), place).toEqual([]);
  }
});
