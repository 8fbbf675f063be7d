import { acknowledged } from './live.ts';
import type { Story } from './story.ts';
import { acknowledgement, ok } from './wire.ts';

const valve = {
  typeId: 'valve',
  version: '1.0.0',
  unique: ['serial'],
  properties: { serial: { dataType: 'string', isMandatory: true } },
};

const message = 'type.create';
const id = 'vacuum';

export const typeCreate: Story = {
  message,
  example: {
    title: 'A device defines a type that nobody knows yet',
    id,
    body: `{
  "typeId": "vacuum-pump",
  "version": "1.0.0",
  "baseTypes": ["pump@2.0.0"],
  "properties": {
    "suction": { "dataType": "number", "isMandatory": false, "description": "Lowest pressure it reaches, in mbar" }
  },
  "variables": {},
  "methods": {
    "vent": { "description": "Lets air in" }
  }
}`,
    replies: [acknowledgement(message, id, { ...ok, typeId: 'vacuum-pump', model: 'svc.device', version: '1.0.0' })],
  },
  exchanges: [
    {
      title: 'A type that nobody knows yet is created',
      id: 'new',
      properties: { target: 'edge' },
      body: '{ "typeId": "valve", "version": "1.0.0", "unique": [ "serial" ], "properties": { "serial": { "dataType": "string", "isMandatory": true }, "travel": { "dataType": "number", "default": 1.0 } } }',
    },
    { title: 'The same version again is refused: it cannot be changed', id: 'again', body: valve },
    {
      title: 'A changed type is a new version',
      id: 'next',
      body: { ...valve, version: '1.1.0', properties: { ...valve.properties, diameter: { dataType: 'integer' } } },
    },
    {
      title: 'A type may build on another one, also on one that is known to all tenants',
      id: 'base',
      body: { typeId: 'dosing-pump', version: '1.0.0', baseTypes: ['pump@2.0.0'] },
    },
    {
      title: 'A version that leaves the unique group of its predecessor is refused',
      id: 'group',
      body: { typeId: 'valve', version: '2.0.0', properties: valve.properties },
    },
    {
      title: 'A base type that nobody knows is refused',
      id: 'no-base',
      body: { typeId: 'ghost', version: '1.0.0', baseTypes: ['unicorn@1.0.0'] },
    },
    {
      title: 'The model definition is named by a property',
      id: 'configuration',
      properties: { model: 'svc.configuration' },
      body: { typeId: 'valve.settings', version: '1.0.0', properties: { unit: { dataType: 'string', default: 'mm' } } },
    },
    {
      title: 'A device cannot add a version to a type that is known to all tenants',
      id: 'everybody',
      body: { typeId: 'pump', version: '3.0.0', unique: ['serial'], properties: valve.properties },
    },
    {
      title: 'In another tenant the same type and version are free',
      device: 'rival-1',
      id: 'other-tenant',
      body: valve,
    },
    {
      title: 'A create whose answer gets lost is asked for again, and happens once',
      id: 'lost-answer',
      fault: { backend: 'typeRegistry', method: 'POST', times: 1, reset: 'after-effect' },
      body: { ...valve, typeId: 'flap' },
    },
    {
      title: 'A definition with mistakes is refused with the place of each',
      id: 'mistakes',
      body: { typeId: 'broken', version: '1', properties: { serial: { dataType: 'text' } } },
    },
  ],
  attempts: ({ typeId, models }) => [
    { what: 'its type and version', body: { typeId, version: '1.0.0' }, from: 'same tenant' },
    {
      what: 'its type as a base',
      body: { typeId: 'heir', version: '1.0.0', baseTypes: [`${typeId}@1.0.0`] },
      from: 'other tenant',
    },
    {
      what: 'a type of all tenants',
      body: { typeId: 'gateway', version: '9.0.0', unique: ['serial'], properties: { serial: { dataType: 'string' } } },
    },
    ...models.map((model) => ({
      what: `the model ${model}`,
      properties: { model },
      body: { typeId, version: '9.0.0' },
    })),
  ],
  live: ({ run }) => ({
    title: 'A type of its own is defined',
    body: {
      ...{ typeId: run, version: '1.0.0', unique: ['serial'] },
      properties: {
        serial: { dataType: 'string', isMandatory: true, description: 'Unique' },
        location: { dataType: 'string', description: 'Where it stands' },
      },
      variables: { pressure: { dataType: 'number', description: 'In bar' } },
      references: { feeds: { description: 'Another one' } },
      methods: { identify: { description: 'Shows which one it is', input: { seconds: { dataType: 'integer' } } } },
    },
    replies: [acknowledged({ ...ok, typeId: run, model: 'svc.device', version: '1.0.0' })],
  }),
};
