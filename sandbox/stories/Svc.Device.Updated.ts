import { acknowledged } from './live.ts';
import type { Story } from './story.ts';
import { acknowledgement, boosterId, ok } from './wire.ts';

const pump = { model: 'svc.device', type: 'pump', properties: { serial: 'FP-1' } };
const objectId = '<objectId 1>';
const replacement = (version: number) => ({
  type: 'pump',
  properties: { serial: 'FP-1', location: 'hall 2' },
  version,
});

const message = 'Svc.Device.Updated';
const id = 'rebuilt';

export const deviceUpdated: Story = {
  message,
  example: {
    title: 'It has been rebuilt: they are replaced with an event',
    id,
    properties: { objectId: boosterId },
    body: `{
  "model": "svc.device",
  "type": "booster-pump",
  "properties": { "serial": "BP-3", "location": "tank farm", "stages": 6 },
  "variables": { "pressure": 8.25 },
  "version": 2
}`,
    replies: [
      {
        ...acknowledgement(message, id, { ...ok, version: 2 }, { objectId: boosterId, model: 'svc.device' }),
        what: 'the acknowledgement, with the version of the **request** (the stored one is now 3)',
      },
    ],
  },
  exchanges: [
    { title: 'A pump registers itself', message: 'model.create', isPreparation: true, id: 'boot', body: pump },
    {
      title: 'Its properties and variables are replaced; there is an acknowledgement and no notification',
      id: 'update',
      properties: { objectId, target: 'a/b' },
      body: '{ "objectId": "<objectId 1>", "model": "svc.device", "type": "pump", "properties": { "serial": "FP-1", "maximumPressure": 1.0 }, "version": 1 }',
    },
    {
      title: 'The same again is refused: the stored version is ahead',
      id: 'update-again',
      properties: { objectId },
      body: replacement(1),
    },
    {
      title: 'When the stored version is behind, the update is repeated until the gap is closed',
      id: 'ahead',
      properties: { objectId },
      body: replacement(4),
    },
    {
      title: 'Only failures are acknowledged to those who ask for them only',
      id: 'negative',
      properties: { objectId, ack: 'negative' },
      body: replacement(5),
    },
  ],
  attempts: ({ ownId, objectId, gateway, pump: own, addresses }) => [
    ...addresses.map((address) => ({ ...address, body: { ...gateway, version: 1, model: undefined } })),
    { what: 'its object id in the body', properties: { objectId: ownId }, body: { ...own, objectId, version: 1 } },
  ],
  live: ({ rebuilt: { objectId, model, type, properties } }) => ({
    title: 'They are replaced with an event',
    properties: { objectId },
    body: { model, type, properties, variables: { pressure: 8.25 }, version: 2 },
    replies: [acknowledged({ ...ok, version: 2 }, { objectId, model })],
  }),
};
