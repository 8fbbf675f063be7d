import { acknowledged, notified, stored } from './live.ts';
import type { Story, StoryExchange } from './story.ts';
import { acknowledgement, booster, boosterId, notification, ok, settings } from './wire.ts';

const device = 'gateway-1';
const [gatewayId, pumpId, sensorId] = [
  '6a7e3a40-0000-4000-8000-000000000001',
  '6a7e3a40-0000-4000-8000-000000000002',
  '6a7e3a40-0000-4000-8000-000000000003',
];

const register = (id: string, objectId: string | undefined, body: object): StoryExchange => ({
  title: `A ${id} registers`,
  message: 'model.create',
  isPreparation: true,
  device,
  id,
  body: { objectId, model: 'svc.device', ...body },
});

const refer = (
  title: string,
  id: string,
  objectId: string,
  references: readonly (readonly [string, string, object])[],
): StoryExchange => ({
  title,
  message: 'reference.create',
  isPreparation: true,
  device,
  id,
  properties: { objectId },
  body: references.map(([name, target, attributes]) => ({
    name,
    to: { objectId: target, model: 'svc.device' },
    attributes,
  })),
});

const ask = (title: string, id: string, body: unknown): StoryExchange => ({
  title,
  device,
  id,
  properties: { objectId: gatewayId, model: 'svc.device' },
  body,
  hasConcurrentReads: true,
});

const message = 'Svc.Device.SyncModel';
const id = 'start-over';
const sparePump = {
  name: 'Spare pump',
  objectId: '3071217e-38e2-5252-8da6-795596829635',
  model: 'svc.device',
  type: 'pump@2.0.0',
  properties: { serial: 'SPARE-1', location: 'store room' },
  variables: {},
  version: 1,
};

export const deviceSyncModel: Story = {
  message,
  example: {
    title: 'A new computer takes over: it fetches the pump, its configuration, and the pump that it feeds',
    id,
    body: `{
  "objectId": "${boosterId}",
  "model": "svc.device",
  "references": ["feeds"],
  "recursive": true,
  "related": ["svc.configuration"]
}`,
    replies: [
      notification(
        'the requested model',
        id,
        'ObjectModelUpdated',
        booster({ serial: 'BP-3', location: 'tank farm', stages: 6 }, { variables: { pressure: 8.25 }, version: 3 }),
      ),
      notification('its configuration', id, 'ObjectModelUpdated', settings('Booster pump', boosterId, 'BP-3')),
      notification('the pump that it feeds', id, 'ObjectModelUpdated', sparePump),
      acknowledgement(message, id, ok, { objectId: boosterId, model: 'svc.device' }),
    ],
  },
  exchanges: [
    register('gateway', gatewayId, { type: 'gateway', name: 'Gateway', properties: { serial: 'GW-1' } }),
    register('pump', pumpId, { type: 'pump', name: 'Pump', properties: { serial: 'FP-1', runningHours: 12 } }),
    register('sensor', sensorId, { type: 'sensor', name: 'Sensor', properties: { quantity: 'flow' } }),
    refer('The gateway contains the pump; the sensor it only holds', 'gateway-parts', gatewayId, [
      ['contains', pumpId, { isContained: true }],
      ['contains', sensorId, { isContained: false }],
    ]),
    refer('The pump contains the sensor, and feeds itself', 'pump-parts', pumpId, [
      ['contains', sensorId, { isContained: true }],
      ['feeds', pumpId, {}],
    ]),
    ask('Without options the model alone is fetched', 'alone', {}),
    {
      title: 'Object id and model may stand in the body; the target of the request comes back with every reply',
      device,
      id: 'in-body',
      properties: { target: 'edge' },
      body: { objectId: sensorId, model: 'svc.device' },
    },
    ask('Hierarchical: all children of the model', 'hierarchical', { hierarchical: true }),
    ask('Contained: the children that say so', 'contained', { contained: true }),
    ask('References: the children under these names', 'references', { references: ['contains', 'feeds'] }),
    ask('Recursive: their children, too, each model once', 'recursive', {
      references: ['contains', 'feeds'],
      recursive: true,
    }),
    ask('Related: other models of the same objects, where there are any', 'related', {
      references: ['contains'],
      related: ['svc.configuration'],
    }),
    ask('Options that say nothing are as good as absent', 'nothing-said', {
      hierarchical: false,
      contained: null,
      references: [null],
      recursive: true,
      related: [],
    }),
    {
      title: 'A model that is not there is refused',
      device,
      id: 'nothing',
      properties: { objectId: '0b1ec700-0000-4000-8000-000000000404', model: 'svc.device' },
      body: { hierarchical: true },
    },
    {
      title: 'A model of another device is refused',
      device: 'pump-1',
      id: 'stranger',
      properties: { objectId: gatewayId, model: 'svc.device' },
      body: { hierarchical: true },
    },
    {
      title: 'A model of another tenant is not there',
      device: 'rival-1',
      id: 'other-tenant',
      properties: { objectId: gatewayId, model: 'svc.device' },
      body: { hierarchical: true },
    },
  ],
  attempts: ({ ownId, objectId, addresses }) => [
    ...addresses.map((address) => ({ ...address, body: { hierarchical: true, related: ['svc.configuration'] } })),
    { what: 'its object id in the body', body: { objectId, model: 'svc.device' } },
    {
      what: 'a hostile related model',
      properties: { objectId: ownId, model: 'svc.device' },
      body: { related: [`../../${objectId}/models/svc.configuration`] },
    },
  ],
  live: ({ first, rebuilt, rebuilt: { objectId, model } }) => ({
    title: 'The second one and what it refers to are fetched',
    body: { objectId, model, references: ['feeds'], recursive: true },
    replies: [
      notified('the second', 'ObjectModelUpdated', stored(rebuilt, 3, { pressure: 8.25 })),
      notified('the first', 'ObjectModelUpdated', stored(first, 1)),
      acknowledged(ok, { objectId, model }),
    ],
  }),
};
