import { acknowledged, notified, sent, stored } from './live.ts';
import type { Story } from './story.ts';
import { acknowledgement, booster, boosterId, notification, ok, relatedModels, settings } from './wire.ts';

const gateway = { type: 'gateway', name: 'Gateway', properties: { serial: 'GW-1', firmware: '4.1.0' } };
const pump = { model: 'svc.device', type: 'pump', properties: { serial: 'FP-1' } };
const sensorId = '5e45012a-0000-4000-8000-000000000001';
const sensor = { type: 'sensor', properties: { quantity: 'flow' } };
const device = 'gateway-1';

const message = 'Svc.Device.Created';
const id = 'booster-boot';

export const deviceCreated: Story = {
  message,
  example: {
    title: 'A booster pump is registered with an event: its object model comes back',
    id,
    body: `{
  "objectId": "${boosterId}",
  "model": "svc.device",
  "type": "booster-pump",
  "name": "Booster pump",
  "properties": { "serial": "BP-3", "location": "pump house", "stages": 4 }
}`,
    replies: [
      notification(
        'its model',
        id,
        'ObjectModelCreated',
        booster({ serial: 'BP-3', location: 'pump house', stages: 4 }),
      ),
      notification('the configuration', id, 'ObjectModelCreated', settings('Booster pump', boosterId, 'BP-3')),
      acknowledgement(message, id, { ...ok, relatedModels }, { model: 'svc.device', objectId: boosterId }),
    ],
  },
  exchanges: [
    {
      title: 'A gateway that nobody knows yet is created; it gets its object model and its configuration',
      device,
      id: 'boot',
      body: '{ "type": "gateway", "name": "Gateway", "properties": { "firmware": "4.1.0", "serial": "GW-1" } }',
    },
    { title: 'The same again updates it', device, id: 'boot-again', body: gateway },
    {
      title: 'A sensor behind it is created for its owner, with the gateway as its parent',
      device,
      id: 'sensor',
      properties: { objectId: sensorId, owner: 'edge/sensor-1', target: 'edge/sensor-1' },
      body: { ...sensor, parent: { objectId: '<objectId 1>', reference: 'contains' } },
    },
    {
      title: 'The same again updates the sensor and leaves the reference as it is',
      device,
      id: 'sensor-again',
      properties: { owner: 'edge/sensor-1' },
      body: { ...sensor, objectId: sensorId, parent: { objectId: '<objectId 1>', reference: 'contains' } },
    },
    {
      title: 'A pump registers through the same gateway',
      device,
      id: 'pump',
      properties: { owner: 'edge' },
      body: pump,
    },
    {
      title: 'The parent cannot be changed: the request fails, although the sensor was updated and is sent',
      device,
      id: 'other-parent',
      properties: { objectId: sensorId },
      body: { ...sensor, parent: { objectId: '<objectId 2>', reference: 'contains' } },
    },
    {
      title: 'A reference that the type of the parent does not know is refused; the pump is updated and is sent',
      device,
      id: 'no-reference',
      properties: { owner: 'edge' },
      body: { ...pump, parent: { objectId: '<objectId 1>', reference: 'admires' } },
    },
    {
      title: 'A parent that is not there is refused likewise',
      device,
      id: 'no-parent',
      properties: { owner: 'edge' },
      body: { ...pump, parent: { objectId: '0b1ec700-0000-4000-8000-000000000404', reference: 'contains' } },
    },
    {
      title: 'Who asks for no acknowledgement gets the notifications alone',
      device,
      id: 'no-ack',
      properties: { ack: 'none' },
      body: gateway,
    },
    {
      title: 'An event without an id is given one',
      device,
      id: 'no-id',
      without: 'id',
      body: gateway,
    },
    {
      title: 'Another model definition has no configuration to go with it',
      id: 'configuration',
      properties: { model: 'svc.configuration' },
      body: { type: 'gateway.settings', properties: { logLevel: 'debug' } },
    },
    { title: 'Every mistake in the body is named', id: 'mistakes', body: { objectId: 'x', parent: { reference: 1 } } },
  ],
  attempts: ({ ownId, objectId, sensor, pump: own, hostileAddresses, registrations, owners }) => [
    ...registrations,
    ...owners,
    ...hostileAddresses.map((address) => ({ ...address, body: sensor })),
    {
      what: 'its object as the parent',
      properties: { objectId: ownId },
      body: { ...own, parent: { objectId, reference: 'contains' } },
    },
  ],
  live: ({ second }) => ({
    title: 'A second one, with an event: its object model comes back',
    body: sent(second),
    replies: [
      notified('its model', 'ObjectModelCreated', stored(second, 1)),
      acknowledged({ ...ok, relatedModels: [] }, { objectId: second.objectId, model: 'svc.device' }),
    ],
  }),
};
