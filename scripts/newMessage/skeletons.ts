/** `model.archive` → `modelArchive` */
export const identifierOf = (name: string): string =>
  name.replace(/\.(.)/g, (_all, letter: string) => letter.toUpperCase());

/** Card, table and story of an action that reads an object model, by their files. */
export const skeletons = (name: string): Readonly<Record<string, string>> => ({
  [`src/messages/${name}.ts`]: card(name),
  [`test/messages/${name}.test.ts`]: table(name),
  [`sandbox/stories/${name}.ts`]: story(name),
});

const card = (name: string) => `import { z } from 'zod';
import { action, done } from '../card/card.ts';
import { defaultModel, guid, modelId } from '../protocol/fields.ts';
import { Rejection } from '../protocol/rejection.ts';

export const ${identifierOf(name)} = action('${name}', {
  purpose: 'Find out whether an object model exists',
  headers: z.object({ objectId: guid, model: modelId.default(defaultModel) }),
  needs: ['informationModel'],

  async handle({ headers: { objectId, model } }, { informationModel }) {
    const stored = await informationModel.getModel(objectId, model);
    if (stored === undefined) {
      throw new Rejection('http_response_error', 'information model: there is no such object model');
    }
    return done({});
  },
});
`;

const table = (name: string) => `import { problem, pump, pumpId } from '../support/world.ts';
import { messageTable } from './table/messageTable.ts';

const call = \`GET /objects/\${pumpId}/models/svc.device\`;
const properties = { objectId: pumpId };
const body = {};
const reads = { call, reply: [200, pump()] } as const;
const ack = { success: true, code: 'ok', details: '' };
const failed = (code: string, details: unknown) => ({ success: false, code, details });

const sample = { properties, body, backend: [reads], ack, failed };

messageTable('V2', '${name}', sample, {
  reading: [
    { it: 'finds an object model that exists', properties, body, backend: [reads], ack },
    {
      it: 'refuses an object model that does not exist',
      properties,
      body,
      backend: [{ call, reply: problem(404, 'Not found') }],
      ack: failed('http_response_error', 'information model: there is no such object model'),
    },
    { it: 'must name the object', body, ack: failed('validation_error', 'property objectId is required') },
  ],
});
`;

const story = (name: string) => `import { acknowledged } from './live.ts';
import type { Story } from './story.ts';
import { acknowledgement, boosterId, ok } from './wire.ts';

const message = '${name}';
const id = 'example';
const objectId = '<objectId 1>';

export const ${identifierOf(name)}: Story = {
  message,
  example: {
    title: 'The booster pump is found',
    id,
    properties: { objectId: boosterId },
    body: '{}',
    replies: [acknowledgement(message, id, ok)],
  },
  exchanges: [
    {
      title: 'A pump registers itself',
      message: 'model.create',
      isPreparation: true,
      id: 'boot',
      body: { model: 'svc.device', type: 'pump', properties: { serial: 'FP-1' } },
    },
    { title: 'It is found', id: 'found', properties: { objectId }, body: {} },
    { title: 'Another device cannot find it', device: 'pump-2', id: 'stranger', properties: { objectId }, body: {} },
  ],
  attempts: ({ addresses }) => addresses.map((address) => ({ ...address, body: {} })),
  live: ({ first: { objectId } }) => ({
    title: 'The first object is found',
    properties: { objectId },
    body: {},
    replies: [acknowledged(ok)],
  }),
};
`;
