import { acknowledged } from './live.ts';
import type { Story } from './story.ts';
import { acknowledgement, boosterId, ok } from './wire.ts';

const pump = {
  model: 'svc.device',
  type: 'pump',
  name: 'Feed pump',
  properties: { serial: 'FP-1', location: 'hall 1' },
};
const objectId = '<objectId 1>';
const replacement = (version: number) => ({
  type: 'pump',
  properties: { serial: 'FP-1', location: 'hall 2' },
  variables: { pressure: 3.5 },
  version,
});

const message = 'model.update';
const id = 'moved';

export const modelUpdate: Story = {
  message,
  example: {
    title: 'The booster pump has been moved: its properties and variables are replaced',
    id,
    properties: { objectId: boosterId },
    body: `{
  "type": "booster-pump",
  "properties": { "serial": "BP-3", "location": "tank farm", "stages": 4, "runningHours": 9007199254740993 },
  "variables": { "pressure": 6.0 },
  "version": 1
}`,
    replies: [
      {
        ...acknowledgement(message, id, { ...ok, objectId: boosterId, model: 'svc.device', version: 2 }),
        what: 'the acknowledgement with the new stored version',
      },
    ],
  },
  exchanges: [
    { title: 'A pump registers itself', message: 'model.create', isPreparation: true, id: 'boot', body: pump },
    {
      title: 'Its properties and variables are replaced, and the version moves on',
      id: 'update',
      properties: { objectId, target: 'a/b' },
      body: '{ "version": 1, "type": "pump", "properties": { "serial": "FP-1", "maximumPressure": 1.0, "runningHours": 9007199254740993 } }',
    },
    {
      title: 'The same update again is refused: the stored version is ahead',
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
      title: 'A gap of more than a hundred versions is refused',
      id: 'far-ahead',
      properties: { objectId },
      body: replacement(106),
    },
    {
      title: 'A unique property cannot be changed',
      id: 'unique',
      properties: { objectId },
      body: { ...replacement(5), properties: { serial: 'FP-9' } },
    },
    {
      title: 'Another type outside the unique group is refused',
      id: 'group',
      properties: { objectId },
      body: { ...replacement(5), type: 'sensor@1', properties: { quantity: 'flow' }, variables: {} },
    },
    {
      title: 'A type inside the unique group is taken with its version',
      id: 'subtype',
      properties: { objectId },
      body: { ...replacement(5), type: 'booster-pump@1.0.0' },
    },
    {
      title: 'An update whose answer gets lost is asked for again, and happens once',
      id: 'lost-answer',
      properties: { objectId },
      fault: { backend: 'informationModel', method: 'PUT', times: 1, reset: 'after-effect' },
      body: { ...replacement(6), type: 'booster-pump' },
    },
    {
      title: 'Another model of the same object is named by a property',
      id: 'configuration',
      properties: { objectId, model: 'svc.configuration' },
      body: { type: 'pump.settings', properties: { serial: 'FP-1', reportInterval: 10 }, version: 1 },
    },
    {
      title: 'An object that is not there is refused',
      id: 'nothing',
      properties: { objectId: '0b1ec700-0000-4000-8000-000000000404' },
      body: replacement(1),
    },
    {
      title: 'An object of another device is refused',
      device: 'pump-2',
      id: 'stranger',
      properties: { objectId },
      body: replacement(7),
    },
    {
      title: 'A body without a version is refused by the information model',
      id: 'no-version',
      properties: { objectId },
      body: { type: 'pump' },
    },
  ],
  attempts: ({ ownId, objectId, gateway, pump, addresses }) => [
    ...addresses.map((address) => ({ ...address, body: { ...gateway, version: 1 } })),
    {
      what: 'its object id in the body',
      properties: { objectId: ownId },
      body: { ...pump, objectId, version: 1 },
      isHarmless: true,
    },
  ],
  live: ({ moved: { objectId, type, properties } }) => ({
    title: 'Its properties and variables are replaced',
    properties: { objectId },
    body: { type, properties, variables: { pressure: 6 }, version: 1 },
    replies: [acknowledged({ ...ok, objectId, model: 'svc.device', version: 2 })],
  }),
};
