import { acknowledged } from './live.ts';
import type { Story } from './story.ts';
import { acknowledgement, boosterId, ok } from './wire.ts';

const pump = (serial: string) => ({ model: 'svc.device', type: 'pump', properties: { serial } });
const registers = { message: 'model.create', isPreparation: true };
const reference = (name: string, objectId: string, attributes?: object) => ({
  name,
  to: { objectId, model: 'svc.device' },
  ...(attributes && { attributes }),
});
const objectId = '<objectId 1>';
const nothing = '0b1ec700-0000-4000-8000-000000000404';

const message = 'reference.create';
const id = 'pipe';

export const referenceCreate: Story = {
  message,
  example: {
    title: 'The booster pump feeds another one: a reference says so',
    id,
    properties: { objectId: boosterId },
    body: `[
  {
    "name": "feeds",
    "to": { "objectId": "3071217e-38e2-5252-8da6-795596829635", "model": "svc.device" },
    "attributes": { "isContained": false, "pipe": "DN 80" }
  }
]`,
    replies: [acknowledgement(message, id, ok)],
  },
  exchanges: [
    { ...registers, title: 'A pump registers itself', id: 'boot', body: pump('FP-1') },
    { ...registers, title: 'And another one', id: 'boot-2', body: pump('FP-2') },
    {
      title: 'References are created',
      id: 'new',
      properties: { objectId },
      body: [
        reference('feeds', '<objectId 2>', { pipe: 'DN 80' }),
        reference('contains', '<objectId 2>', { isContained: true }),
      ],
    },
    {
      title: 'They may be sent again; new attributes take the place of the old',
      id: 'again',
      properties: { objectId, model: 'svc.device' },
      body: [reference('feeds', '<objectId 2>', { pipe: 'DN 100' }), reference('contains', '<objectId 2>')],
    },
    {
      title: 'Now they look like this',
      message: 'Svc.Device.SyncModel',
      id: 'look',
      properties: { objectId, model: 'svc.device' },
      body: { contained: true },
    },
    {
      title: 'A name that the type does not know is refused, and so is all that came with it',
      id: 'no-name',
      properties: { objectId },
      body: [reference('parent', '<objectId 2>'), reference('admires', '<objectId 2>')],
    },
    {
      title: 'A target that is not there is refused',
      id: 'no-target',
      properties: { objectId },
      body: [reference('feeds', nothing)],
    },
    {
      title: 'A source that is not there is refused',
      id: 'no-source',
      properties: { objectId: nothing },
      body: [reference('feeds', objectId)],
    },
    { ...registers, title: 'Another device registers a pump', device: 'pump-2', id: 'theirs', body: pump('FP-3') },
    {
      title: 'It cannot refer to a pump that is not its own',
      device: 'pump-2',
      id: 'to-stranger',
      properties: { objectId: '<objectId 3>' },
      body: [reference('feeds', objectId)],
    },
    {
      title: 'Nor can it give references to one',
      device: 'pump-2',
      id: 'from-stranger',
      properties: { objectId },
      body: [reference('feeds', '<objectId 3>')],
    },
    {
      title: 'A body that is no list is refused',
      id: 'no-list',
      properties: { objectId },
      body: reference('feeds', '<objectId 2>'),
    },
  ],
  attempts: ({ ownId, objectId, addresses }) => {
    const from = { objectId: ownId };
    return [
      ...addresses.map((address) => ({ ...address, body: [reference('feeds', ownId)] })),
      { what: 'a reference to its object', properties: from, body: [reference('feeds', objectId)] },
      {
        what: 'a reference to its configuration',
        properties: from,
        body: [{ name: 'feeds', to: { objectId, model: 'svc.configuration' } }],
      },
      { what: 'a reference to nowhere', properties: from, body: [reference('feeds', `${ownId}/../${objectId}`)] },
    ];
  },
  live: ({ first: { objectId, model }, second }) => ({
    title: 'A reference leads from the second to the first',
    properties: { objectId: second.objectId },
    body: [{ name: 'feeds', to: { objectId, model }, attributes: { isContained: false } }],
    replies: [acknowledged(ok)],
  }),
};
