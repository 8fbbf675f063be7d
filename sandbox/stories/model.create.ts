import { acknowledged, sent } from './live.ts';
import type { Story } from './story.ts';
import { acknowledgement, notification, ok, relatedModels, sample, settings } from './wire.ts';

const pump = { model: 'svc.device', type: 'pump', name: 'Feed pump', properties: { serial: 'FP-1' } };
const sensor = { model: 'svc.device', type: 'sensor', properties: { quantity: 'flow', unit: 'l/min' } };
const own = '0b1ec700-0000-4000-8000-000000000001';

const message = 'model.create';
const id = 'first-boot';

export const modelCreate: Story = {
  message,
  example: {
    title: 'A pump registers itself',
    id,
    body: `{
  "model": "svc.device",
  "type": "pump",
  "name": "Transfer pump",
  "properties": {
    "serial": "TP-7",
    "location": "tank farm",
    "maximumPressure": 10.0,
    "runningHours": 9007199254740993
  }
}`,
    replies: [
      notification(
        'the configuration that was created with the pump',
        id,
        'ObjectModelCreated',
        settings('Transfer pump', sample.objectId, 'TP-7'),
      ),
      acknowledgement(message, id, { ...ok, relatedModels, objectId: sample.objectId }),
    ],
  },
  exchanges: [
    {
      title: 'A pump that nobody knows yet is created, with the configuration that its type brings along',
      id: 'first-boot',
      body: '{ "model": "svc.device", "type": "pump", "name": "Feed pump", "properties": { "serial": "FP-1", "maximumPressure": 16.0, "runningHours": 9007199254740993 } }',
    },
    { title: 'The same pump again is found by its serial number and updated', id: 'second-boot', body: pump },
    {
      title: 'By its object id it is found as well',
      id: 'by-id',
      body: { ...pump, objectId: '<objectId 1>' },
    },
    {
      title: 'A sensor that chooses its own object id is created under it',
      id: 'own-id',
      body: { ...sensor, objectId: own },
    },
    {
      title: 'A sensor with neither object id nor unique properties becomes a new object',
      id: 'nameless',
      body: sensor,
    },
    {
      title: 'A pump that has no owner yet is claimed before it is updated',
      id: 'claim',
      body: { model: 'svc.device', type: 'pump@2', properties: { serial: 'SPARE-1', location: 'hall 4' } },
    },
    {
      title: 'What belongs to an identity behind a gateway is announced under the path of that identity',
      device: 'gateway-1',
      id: 'owned',
      properties: { owner: 'edge/sensor-1', target: 'edge' },
      body: { model: 'svc.device', type: 'pump', properties: { serial: 'FP-2' } },
    },
    {
      title: 'A related model that cannot be created does not fail the request',
      id: 'boiler',
      body: { model: 'svc.device', type: 'boiler', properties: { serial: 'B-1' } },
    },
    {
      title: 'A compressed request has a compressed acknowledgement',
      id: 'compressed',
      isCompressed: true,
      properties: { 'content-encoding': 'gzip' },
      body: sensor,
    },
    {
      title: 'Another type of the same unique group needs its version',
      id: 'no-version',
      body: { ...pump, objectId: '<objectId 1>', type: 'booster-pump' },
    },
    {
      title: 'With its version it is taken',
      id: 'with-version',
      body: { ...pump, objectId: '<objectId 1>', type: 'booster-pump@1' },
    },
    {
      title: 'The serial number of another device’s pump is refused',
      device: 'pump-2',
      id: 'taken',
      body: pump,
    },
    {
      title: 'In another tenant the same serial number is another pump',
      device: 'rival-1',
      id: 'other-tenant',
      body: pump,
    },
    {
      title: 'A create whose answer gets lost is asked for again, and makes one object',
      id: 'lost-answer',
      fault: { backend: 'informationModel', method: 'POST', path: '/object', times: 1, reset: 'after-effect' },
      body: { model: 'svc.device', type: 'pump', properties: { serial: 'FP-3' } },
    },
    { title: 'An owner that nobody knows is refused', id: 'no-owner', properties: { owner: 'nobody' }, body: pump },
    { title: 'A type that nobody knows is refused', id: 'no-type', body: { ...pump, type: 'unicorn' } },
    { title: 'A body that is no JSON is refused', id: 'broken', body: '{ "model": "svc.device", ' },
  ],
  attempts: ({ deviceId, principalId, sensor, objectIds, registrations, owners }) => [
    ...registrations,
    ...owners,
    ...objectIds.map((objectId) => ({ what: `the object id ${objectId}`, body: { ...sensor, objectId } })),
    {
      what: 'its identity as the owner in the body',
      body: { ...sensor, ownerId: principalId, path: deviceId },
      isHarmless: true,
    },
  ],
  live: ({ first }) => ({
    title: 'An object of that type is registered',
    body: sent(first),
    replies: [acknowledged({ ...ok, relatedModels: [], objectId: first.objectId })],
  }),
};
