import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { everyAction } from '../support/everyAction.ts';
import { hostileModels, hostilePaths, hostilePrincipals, pathFault, shown } from '../support/hostileNames.ts';
import { idempotencyKey } from '../support/idempotencyKey.ts';
import { messageTable } from '../support/messageTable.ts';
import {
  A,
  B,
  derivedObjectId,
  device,
  edgeIdentity,
  identityWithId,
  noConfiguration,
  P,
  problem,
  pump,
  pumpAnswer,
  pumpType,
  Q,
  unownedPump,
} from '../support/world.ts';

const ok = (objectId: string, relatedModels: unknown[] = []) => ({
  success: true,
  code: 'ok',
  details: '',
  objectId,
  relatedModels,
});
const failed = (code: string, details: unknown) => ({ success: false, code, details, relatedModels: [] });

const body = {
  model: 'svc.device',
  type: 'pump',
  name: 'Feed pump',
  properties: { serial: 'FP-1' },
  variables: { speed: 3 },
};
const withId = { objectId: A, ...body };
const readA = `GET /objects/${A}/models/svc.device`;
const putA = `PUT /objects/${A}/models/svc.device`;
const claimA = `PUT /objects/${A}/models/svc.device/owner`;
const create = `POST /object?owner=${P}`;
const lookUp = (hits: unknown[]) =>
  ({
    call: 'POST /query',
    body: '{"model":"svc.device","type":"pump","properties":{"serial":"FP-1"}}',
    reply: [200, { data: hits }],
  }) as const;
const type = (path: string, definition: object) =>
  ({
    call: `GET /modelDefinitions/svc.device/types/${path}`,
    reply: [200, { model: 'svc.device', typeId: path, ...definition }],
  }) as const;
const absent = { call: readA, reply: problem(404, 'Not found') } as const;
const creates = { call: create, body: JSON.stringify(withId), reply: [201, pumpAnswer()] } as const;
const readConfiguration = `GET /objects/${A}/models/svc.configuration`;
const refusal = (operation: string, words: string) =>
  failed('http_response_error', `information model: ${operation} object model failed with ${words}: as it is`);
const forbidden = (words: string) => failed('not_authorized', `${words} failed with HTTP 403: Forbidden: as it is`);

/** 3,000 related models whose names no compression makes short; every tenth failed. */
const many = Array.from({ length: 3000 }, (_, n) => ({
  model: createHash('sha256').update(String(n)).digest('hex'),
  success: n % 10 !== 0,
  code: n % 10 === 0 ? 'validation_error' : 'ok',
  details: n % 10 === 0 ? 'no serial' : '',
  created: n % 10 !== 0,
}));
const isFailed = ({ success }: (typeof many)[number]) => !success;

messageTable('V2', 'model.create', {
  ...everyAction({
    action: 'model.create',
    body: withId,
    backend: [device, absent, creates, noConfiguration(A)],
    decisive: [device, absent, creates],
    ack: ok(A),
    failed,
  }),

  created: [
    {
      it: 'creates a model that does not exist, with the objectId of the request',
      body: withId,
      backend: [
        device,
        absent,
        { call: create, body: JSON.stringify(withId), reply: [201, pumpAnswer()] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'generates an objectId when the request has none, and puts it in without touching the rest',
      body: '{ "model":"svc.device","type":"pump","properties":{"serial":"FP-1","big":12345678901234567890,"x":1.0,"y":1e400,"2":0,"1":0} }',
      backend: [
        device,
        pumpType,
        lookUp([]),
        {
          call: create,
          body: `{"objectId":"${derivedObjectId}", "model":"svc.device","type":"pump","properties":{"serial":"FP-1","big":12345678901234567890,"x":1.0,"y":1e400,"2":0,"1":0} }`,
          reply: [201, pumpAnswer({ objectId: derivedObjectId })],
        },
        noConfiguration(derivedObjectId),
      ],
      ack: ok(derivedObjectId),
    },
    {
      it: 'counts an objectId that is null as absent, and puts the generated one in its place without touching the rest',
      body: '{ "objectId" : null ,"model":"svc.device","type":"pump","properties":{"serial":"FP-1","x":1.0},"parent":null }',
      backend: [
        device,
        pumpType,
        lookUp([]),
        {
          call: create,
          body: `{ "objectId" : "${derivedObjectId}" ,"model":"svc.device","type":"pump","properties":{"serial":"FP-1","x":1.0},"parent":null }`,
          reply: [201, pumpAnswer({ objectId: derivedObjectId })],
        },
        noConfiguration(derivedObjectId),
      ],
      ack: ok(derivedObjectId),
    },
    {
      it: 'creates a new model on every request when neither objectId nor unique properties are given',
      body: { model: 'svc.device', type: 'note' },
      backend: [
        device,
        {
          call: 'GET /modelDefinitions/svc.device/types/note',
          reply: [200, { model: 'svc.device', typeId: 'note', version: '1.0.0', uniqueProperties: [] }],
        },
        { call: create, reply: [201, pumpAnswer({ objectId: derivedObjectId, type: 'note@1.0.0' })] },
        noConfiguration(derivedObjectId),
      ],
      ack: ok(derivedObjectId),
    },
    {
      it: 'does not look for a model whose unique properties the request does not all have',
      body: { model: 'svc.device', type: 'pump', properties: {} },
      backend: [device, pumpType, { call: create, reply: problem(400, 'Validation failed') }],
      ack: failed(
        'http_response_error',
        'information model: create object model failed with HTTP 400: Validation failed: as it is',
      ),
    },
    {
      it: 'makes the owner of the header the owner of the model',
      properties: { owner: 'edge/sensor-1' },
      body: withId,
      backend: [
        edgeIdentity,
        absent,
        { call: `POST /object?owner=${Q}`, reply: [201, pumpAnswer({ ownerId: Q, path: 'd1/edge/sensor-1' })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'leaves a type that the registry does not know to the information model, which refuses it',
      body,
      backend: [
        device,
        { call: pumpType.call, reply: problem(404, 'Not found') },
        { call: create, reply: problem(400, 'Validation failed') },
      ],
      ack: refusal('create', 'HTTP 400: Validation failed'),
    },
    {
      it: 'hands owner names over as one value, whatever they contain',
      properties: { owner: 'ed%2fge/ü&x=1' },
      body: withId,
      backend: [
        {
          call: 'GET /devices?device=d1&path=ed%252fge%2F%C3%BC%26x%3D1',
          reply: [200, { data: [{ id: Q, identity: 'ü&x=1', path: 'd1/ed%2fge/ü&x=1', parentId: P }] }],
        },
        absent,
        { call: `POST /object?owner=${Q}`, reply: [201, pumpAnswer({ ownerId: Q, path: 'd1/ed%2fge/ü&x=1' })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'looks for unique numbers exactly as they are written',
      body: '{"model":"svc.device","type":"pump","properties":{"serial":12345678901234567891}}',
      backend: [
        device,
        pumpType,
        {
          call: 'POST /query',
          body: '{"model":"svc.device","type":"pump","properties":{"serial":12345678901234567891}}',
          reply: [200, JSON.stringify({ data: [pump()] }).replace('"FP-1"', '12345678901234567890')],
        },
        { call: create, reply: [201, pumpAnswer({ objectId: derivedObjectId })] },
        noConfiguration(derivedObjectId),
      ],
      ack: ok(derivedObjectId),
    },
    {
      it: 'takes any model and type, spaces included, each as one percent-encoded segment of a path',
      body: { ...body, model: 'feed pumps @ 1', type: 'feed pump@2' },
      backend: [
        device,
        {
          call: 'GET /modelDefinitions/feed%20pumps%20%40%201/types/feed%20pump/versions/2',
          reply: [
            200,
            { model: 'feed pumps @ 1', typeId: 'feed pump', version: '2.0.0', uniqueProperties: ['serial'] },
          ],
        },
        {
          call: 'POST /query',
          body: '{"model":"feed pumps @ 1","type":"feed pump","properties":{"serial":"FP-1"}}',
          reply: [200, { data: [pump({ model: 'feed pumps @ 1', type: 'feed pump@2.0.0' })] }],
        },
        {
          call: `PUT /objects/${A}/models/feed%20pumps%20%40%201`,
          reply: [200, pumpAnswer({ model: 'feed pumps @ 1', type: 'feed pump@2.0.0', version: 2 })],
        },
      ],
      ack: ok(A),
    },
    {
      it: 'reports every related model, without saying which were created',
      body: withId,
      backend: [
        device,
        absent,
        {
          call: create,
          reply: [
            201,
            pumpAnswer({
              relatedModels: [
                { model: 'svc.history', success: true, code: 'ok', details: '', created: true },
                { model: 'svc.location', success: true, code: 'ok', details: '', created: false },
              ],
            }),
          ],
        },
        noConfiguration(A),
      ],
      ack: ok(A, [
        { model: 'svc.history', success: true, code: 'ok', details: '' },
        { model: 'svc.location', success: true, code: 'ok', details: '' },
      ]),
    },
    {
      it: 'compresses an acknowledgement with 3,000 related models, and leaves out those that do not fit, those that succeeded first',
      body: withId,
      backend: [device, absent, { ...creates, reply: [201, pumpAnswer({ relatedModels: many })] }, noConfiguration(A)],
      ack: {
        ...ok(
          A,
          expect.toSatisfy((kept: typeof many) => kept.length > 500 && kept.slice(0, 300).every(isFailed)),
        ),
        details: expect.stringMatching(/^\d+ of 3000 related models are left out here, all of them successful$/),
      },
      ackProperties: { 'content-encoding': 'gzip' },
    },
    {
      it: 'counts as success when a related model could not be created',
      body: withId,
      backend: [
        device,
        absent,
        {
          call: create,
          reply: [
            201,
            pumpAnswer({
              relatedModels: [
                {
                  model: 'svc.history',
                  success: false,
                  code: 'validation_error',
                  details: 'no serial',
                  created: false,
                },
              ],
            }),
          ],
        },
        noConfiguration(A),
      ],
      ack: ok(A, [{ model: 'svc.history', success: false, code: 'validation_error', details: 'no serial' }]),
    },
  ],
  updated: [
    {
      it: 'updates when the identical request with objectId null is repeated',
      body: { objectId: null, ...body },
      backend: [
        device,
        pumpType,
        lookUp([pump({ version: 2 })]),
        { call: putA, body: { objectId: null, ...body, version: 2 }, reply: [200, pumpAnswer({ version: 3 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'finds an existing model by what is unique in a type and its base types, when the registry does not resolve them',
      body: { ...body, properties: { serial: 'FP-1', site: 'north', tag: 7 } },
      backend: [
        device,
        type('pump', { version: '1.0.0', unique: ['serial'], baseTypes: ['device@2.1.0', 'tagged@1.0.0'] }),
        type('device/versions/2.1.0', { typeId: 'device', version: '2.1.0', baseTypes: ['sited@1.0.0'] }),
        type('tagged/versions/1.0.0', { typeId: 'tagged', version: '1.0.0', uniqueProperties: ['tag'] }),
        type('sited/versions/1.0.0', {
          ...{ typeId: 'sited', version: '1.0.0' },
          ...{ unique: ['site'], baseTypes: ['sited@1.0.0', 'device@2.1.0'] },
        }),
        {
          call: 'POST /query',
          body: '{"model":"svc.device","type":"pump","properties":{"serial":"FP-1","tag":7,"site":"north"}}',
          reply: [200, { data: [pump({ properties: { serial: 'FP-1', site: 'north', tag: 7 } })] }],
        },
        { call: putA, reply: [200, pumpAnswer({ version: 2 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'leaves a model whose type has a base type that the registry does not know to the information model',
      body,
      backend: [
        device,
        type('pump', { version: '1.0.0', unique: ['serial'], baseTypes: ['device@2.1.0'] }),
        { call: 'GET /modelDefinitions/svc.device/types/device/versions/2.1.0', reply: problem(404, 'Not found') },
        { call: create, reply: problem(409, 'Exists', { objectId: A, type: 'pump@1.0.0' }) },
        { call: readA, reply: [200, pump()] },
        { call: putA, body: { ...body, version: 1 }, reply: [200, pumpAnswer({ version: 2 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'creates a new model when neither the type nor its base types declare anything unique',
      body,
      backend: [
        device,
        type('pump', { version: '1.0.0', baseTypes: ['device@2.1.0'] }),
        type('device/versions/2.1.0', { typeId: 'device', version: '2.1.0', baseTypes: [], unique: [] }),
        { call: create, reply: [201, pumpAnswer({ objectId: derivedObjectId })] },
        noConfiguration(derivedObjectId),
      ],
      ack: ok(derivedObjectId),
    },
    {
      it: 'finds an existing model by objectId plus model and updates it with the stored version',
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, pump({ version: 4, type: 'tank@2.0.0' })] },
        {
          call: putA,
          body: `{"version":4,${JSON.stringify(withId).slice(1)}`,
          reply: [200, pumpAnswer({ version: 5 })],
        },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'finds an existing model by type id plus unique properties when objectId is absent, of any major version',
      body,
      backend: [
        device,
        pumpType,
        lookUp([pump({ version: 9, type: 'pump@3.1.0' })]),
        { call: putA, body: { ...body, version: 9 }, reply: [200, pumpAnswer({ version: 10 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'compares plain and wrapped values of unique properties as equal',
      body: { ...body, properties: { serial: { value: 'FP-1' } } },
      backend: [
        device,
        pumpType,
        lookUp([pump()]),
        { call: putA, reply: [200, pumpAnswer({ version: 2 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'checks every hit of the look-up again: model, type id and values',
      body,
      backend: [
        device,
        pumpType,
        lookUp([
          pump({ objectId: B, type: 'tank@1.0.0' }),
          pump({ objectId: B, model: 'svc.other' }),
          pump({ objectId: B, properties: { serial: 'FP-2' } }),
          pump({ objectId: B, properties: {} }),
        ]),
        { call: create, reply: [201, pumpAnswer({ objectId: derivedObjectId })] },
        noConfiguration(derivedObjectId),
      ],
      ack: ok(derivedObjectId),
    },
    {
      it: 'asks for the type version that the request names',
      body: { ...body, type: 'pump@2.1.0' },
      backend: [
        device,
        { ...pumpType, call: 'GET /modelDefinitions/svc.device/types/pump/versions/2.1.0' },
        lookUp([pump()]),
        { call: putA, body: { ...body, type: 'pump@2.1.0', version: 1 }, reply: [200, pumpAnswer({ version: 2 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'passes on a major type version as it is: the information model chooses',
      body: { ...body, type: 'pump@2' },
      backend: [
        device,
        { ...pumpType, call: 'GET /modelDefinitions/svc.device/types/pump/versions/2' },
        lookUp([pump()]),
        { call: putA, body: { ...body, type: 'pump@2', version: 1 }, reply: [200, pumpAnswer({ version: 2 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'claims an unowned model for the owner of the header',
      properties: { owner: 'edge/sensor-1' },
      body: withId,
      backend: [
        edgeIdentity,
        { call: readA, reply: [200, unownedPump()] },
        { call: claimA, body: { ownerId: Q }, reply: [204] },
        { call: putA, reply: [200, pumpAnswer({ version: 2, ownerId: Q, path: 'd1/edge/sensor-1' })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'claims no model that has any owner',
      properties: { owner: 'edge/sensor-1' },
      body: withId,
      backend: [
        edgeIdentity,
        { call: readA, reply: [200, pump()] },
        { call: putA, reply: [200, pumpAnswer({ version: 2 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'counts as success when an update could not create a related model',
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, pump()] },
        {
          call: putA,
          reply: [
            200,
            pumpAnswer({
              version: 2,
              relatedModels: [
                { model: 'svc.history', success: false, code: 'not_authorized', details: 'taken', created: false },
              ],
            }),
          ],
        },
        noConfiguration(A),
      ],
      ack: ok(A, [{ model: 'svc.history', success: false, code: 'not_authorized', details: 'taken' }]),
    },
    {
      it: 'claims an unowned model before updating it',
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, unownedPump()] },
        { call: claimA, body: { ownerId: P }, reply: [204] },
        { call: putA, body: { ...withId, version: 1 }, reply: [200, pumpAnswer({ version: 2 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'replaces the version of the request by the stored one',
      body: { ...withId, version: 77 },
      backend: [
        device,
        { call: readA, reply: [200, JSON.stringify(pump()).replace('"version":1', '"version":9007199254740993')] },
        {
          call: putA,
          body: JSON.stringify({ ...withId, version: 77 }).replace('77', '9007199254740993'),
          reply: [200, pumpAnswer()],
        },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
  ],
  refused: [
    {
      it: 'refuses an owner that is not connected through the device, before anything else happens',
      properties: { owner: 'edge/sensor-1' },
      body: withId,
      backend: [{ call: edgeIdentity.call, reply: [200, { data: [] }] }],
      ack: failed('http_response_error', 'property owner names no identity that is connected through this device'),
    },
    {
      it: 'refuses a device that the principal manager does not know',
      body: withId,
      backend: [{ call: device.call, reply: [200, { data: [] }] }],
      ack: failed('http_response_error', 'the principal manager has no identity for this device'),
    },
    {
      it: 'reports what the device may not touch as not authorized',
      body: withId,
      backend: [device, { call: readA, reply: problem(403, 'Forbidden') }],
      ack: failed('not_authorized', 'information model: read object model failed with HTTP 403: Forbidden: as it is'),
    },
    {
      it: 'reports a claim that another won as not authorized, without updating',
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, unownedPump()] },
        { call: claimA, reply: problem(409, 'Owned by another') },
      ],
      ack: failed(
        'not_authorized',
        'information model: claim object model failed with HTTP 409: Owned by another: as it is',
      ),
    },
    ...(
      [
        ['a changed unique property', { properties: { serial: 'FP-2' } }],
        ['a type outside the uniqueness group', { type: 'note@1.0.0' }],
        ['a switch to another type without its version', { type: 'tank' }],
      ] as const
    ).map(([what, more]) => ({
      it: `reports a modification that the information model refuses: ${what}`,
      body: { ...withId, ...more },
      backend: [
        device,
        { call: readA, reply: [200, pump({ version: 2 })] as const },
        { call: putA, body: { ...withId, ...more, version: 2 }, reply: problem(400, 'Invalid modification') },
      ],
      ack: refusal('replace', 'HTTP 400: Invalid modification'),
    })),
    {
      it: 'leaves a body without a model to the information model, which refuses it',
      body: { type: 'pump' },
      backend: [device, { call: create, reply: problem(400, 'Validation failed') }],
      ack: failed(
        'http_response_error',
        'information model: create object model failed with HTTP 400: Validation failed: as it is',
      ),
    },
    {
      it: 'never puts an objectId that is no GUID into a path',
      body: { ...body, objectId: `../${A}` },
      backend: [
        device,
        {
          call: create,
          body: JSON.stringify({ ...body, objectId: `../${A}` }),
          reply: problem(400, 'Validation failed'),
        },
      ],
      ack: failed(
        'http_response_error',
        'information model: create object model failed with HTTP 400: Validation failed: as it is',
      ),
    },
    {
      it: 'leaves a body that is no object to the information model as it is',
      body: '[1]',
      backend: [device, { call: create, body: '[1]', reply: problem(400, 'Validation failed') }],
      ack: failed(
        'http_response_error',
        'information model: create object model failed with HTTP 400: Validation failed: as it is',
      ),
    },
    ...hostilePaths.map((owner) => ({
      it: `refuses an owner path with empty or climbing names or control characters: ${shown(owner)}`,
      properties: { owner },
      body: withId,
      ack: failed('validation_error', `property owner ${pathFault}`),
    })),
    ...hostileModels.map((model) => ({
      it: `never puts a model into a path that would not stay one segment of it: ${shown(model)}`,
      body: { ...withId, model },
      backend: [
        device,
        { call: create, body: JSON.stringify({ ...withId, model }), reply: problem(400, 'Validation failed') },
      ],
      ack: refusal('create', 'HTTP 400: Validation failed'),
    })),
    ...['../pump', 'a/b', 'pump@1/2', 'pump@..', ''].map((type) => ({
      it: `never puts a type into a path that would not stay one segment of it: ${JSON.stringify(type)}`,
      body: { ...body, type },
      backend: [device, { call: create, reply: problem(400, 'Validation failed') }],
      ack: refusal('create', 'HTTP 400: Validation failed'),
    })),
    ...hostilePrincipals.map((id) => ({
      it: `is our trouble, not the device’s, when the owner’s id is no segment of a path: ${shown(id)}`,
      body: withId,
      backend: [identityWithId(id)],
      ack: failed('internal_platform_error', expect.stringMatching(/^internal error, incident [0-9a-f-]{36}$/)),
    })),
    {
      it: 'is our trouble, not the device’s, when a model that is found has an id that is no segment of a path',
      body: withId,
      backend: [device, { call: readA, reply: [200, pump({ model: '..' })] }],
      ack: failed('internal_platform_error', expect.stringMatching(/^internal error, incident [0-9a-f-]{36}$/)),
    },
    {
      it: 'updates none of two models that have the unique properties of the request',
      body,
      backend: [device, pumpType, lookUp([pump(), pump({ objectId: B, version: 7 })])],
      ack: failed(
        'http_response_error',
        'information model: 2 object models have the unique properties of the request; none was updated',
      ),
    },
    {
      it: 'refuses a type with more base types than are read for one look-up',
      body: { ...body, type: 'chain@64.0.0' },
      backend: [
        device,
        ...Array.from({ length: 64 }, (_, index) =>
          type(`chain/versions/${64 - index}.0.0`, {
            ...{ typeId: 'chain', version: `${64 - index}.0.0` },
            ...{ unique: ['serial'], baseTypes: [`chain@${63 - index}.0.0`] },
          }),
        ),
      ],
      ack: failed('http_response_error', 'body.type has more than 63 base types'),
    },
    {
      it: 'is not authorized when the device may not read the type',
      body,
      backend: [device, { call: pumpType.call, reply: problem(403, 'Forbidden') }],
      ack: forbidden('type registry: read type definition'),
    },
    {
      it: 'is not authorized when the device may not look for models',
      body,
      backend: [device, pumpType, { ...lookUp([]), reply: problem(403, 'Forbidden') }],
      ack: forbidden('information model: look up object model'),
    },
    {
      it: 'is not authorized when the device may not claim the model',
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, unownedPump()] },
        { call: claimA, reply: problem(403, 'Forbidden') },
      ],
      ack: forbidden('information model: claim object model'),
    },
    {
      it: 'is not authorized when the device may not update the model',
      body: withId,
      backend: [device, { call: readA, reply: [200, pump()] }, { call: putA, reply: problem(403, 'Forbidden') }],
      ack: forbidden('information model: replace object model'),
    },
    {
      it: 'reports a model that was deleted before it could be updated',
      body: withId,
      backend: [device, { call: readA, reply: [200, pump()] }, { call: putA, reply: problem(404, 'Not found') }],
      ack: refusal('replace', 'HTTP 404: Not found'),
    },
    ...['objectId', 'model', 'type', 'version', 'properties'].map((key) => ({
      it: `refuses a body in which ${key} occurs twice`,
      body: `{"${key}":1,"${key}":2}`,
      ack: failed('validation_error', `body.${key} occurs twice`),
    })),
    {
      it: 'refuses a unique property that occurs twice',
      body: '{"model":"svc.device","type":"pump","properties":{"serial":"FP-1","serial":"FP-2"}}',
      backend: [device, pumpType],
      ack: failed('validation_error', 'body.properties.serial occurs twice'),
    },
    {
      it: 'does not mind a property that occurs twice and is only called like a unique one',
      body: '{"model":"svc.device","type":"pump","properties":{"serial":"FP-1","serial2":1,"serial2":2}}',
      backend: [
        device,
        pumpType,
        lookUp([pump()]),
        { call: putA, reply: [200, pumpAnswer({ version: 2 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'refuses a wrapped unique property that occurs twice',
      body: '{"model":"svc.device","type":"pump","properties":{"serial":{"value":"FP-1","value":"FP-2"}}}',
      backend: [device, pumpType],
      ack: failed('validation_error', 'body.properties.serial occurs twice'),
    },
    {
      it: 'does not mind keys that occur twice where it does not read them',
      body: `{"objectId":"${A}","model":"svc.device","type":"pump","variables":{"a":1,"a":2},"x":1,"x":2}`,
      backend: [
        device,
        absent,
        {
          call: create,
          body: `{"objectId":"${A}","model":"svc.device","type":"pump","variables":{"a":1,"a":2},"x":1,"x":2}`,
          reply: [201, pumpAnswer()],
        },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
  ],
  'repeats after a crash': [
    {
      it: 'creates again, and gets the first answer again, when it may have been the creator of the model it finds',
      redelivered: true,
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, pump({ version: 3 })] },
        { call: create, body: JSON.stringify(withId), reply: [201, pumpAnswer()] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'updates the model it finds when the repeat shows that somebody else created it, of another type too',
      redelivered: true,
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, pump({ version: 3, type: 'tank@1.0.0' })] },
        { call: create, reply: problem(409, 'Exists', { objectId: A, type: 'tank@1.0.0' }) },
        { call: putA, body: { ...withId, version: 3 }, reply: [200, pumpAnswer({ version: 4 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'updates the model it finds although an answer to the creation was lost, for the model had been there before',
      redelivered: true,
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, pump({ version: 3 })] },
        { call: create, reply: 'lost' },
        { call: create, reply: problem(409, 'Exists', { objectId: A, type: 'pump@1.0.0' }) },
        { call: putA, body: { ...withId, version: 3 }, reply: [200, pumpAnswer({ version: 4 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
  ],
  'two at the same time': [
    {
      it: 'updates the model that somebody else created a moment earlier',
      body: withId,
      backend: [
        device,
        absent,
        { call: create, reply: problem(409, 'Exists', { objectId: A, type: 'pump@1.0.0' }) },
        { call: readA, reply: [200, pump({ version: 1 })] },
        { call: putA, body: { ...withId, version: 1 }, reply: [200, pumpAnswer({ version: 2 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'updates the model with the same unique properties that somebody else created a moment earlier',
      body,
      backend: [
        device,
        pumpType,
        lookUp([]),
        { call: create, reply: problem(409, 'Exists', { objectId: B, type: 'pump@2.0.0' }) },
        { call: `GET /objects/${B}/models/svc.device`, reply: [200, pump({ objectId: B, version: 3 })] },
        {
          call: `PUT /objects/${B}/models/svc.device`,
          body: { ...body, version: 3 },
          reply: [200, pumpAnswer({ objectId: B, version: 4 })],
        },
        noConfiguration(B),
      ],
      ack: ok(B),
    },
    {
      it: 'claims the model that somebody else created a moment earlier and nobody owns',
      body: withId,
      backend: [
        device,
        absent,
        { call: create, reply: problem(409, 'Exists') },
        { call: readA, reply: [200, unownedPump()] },
        { call: claimA, body: { ownerId: P }, reply: [204] },
        { call: putA, body: { ...withId, version: 1 }, reply: [200, pumpAnswer({ version: 2 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'updates no other object than the one it names, although that one has its unique properties',
      body: withId,
      backend: [
        device,
        absent,
        { call: create, reply: problem(409, 'Exists', { objectId: B, type: 'pump@1.0.0' }) },
        absent,
      ],
      ack: refusal('create', 'HTTP 409: Exists'),
    },
    {
      it: 'reports a conflict with a model that is gone again',
      body,
      backend: [
        device,
        pumpType,
        lookUp([]),
        { call: create, reply: problem(409, 'Exists', { objectId: B, type: 'pump@1.0.0' }) },
        { call: `GET /objects/${B}/models/svc.device`, reply: problem(404, 'Not found') },
      ],
      ack: refusal('create', 'HTTP 409: Exists'),
    },
    {
      it: 'does not claim again what it has claimed before it lost a race',
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, unownedPump()] },
        { call: claimA, body: { ownerId: P }, reply: [204] },
        { call: putA, body: { ...withId, version: 1 }, reply: problem(409, 'Version mismatch') },
        { call: readA, reply: [200, pump({ version: 2 })] },
        { call: putA, body: { ...withId, version: 2 }, reply: [200, pumpAnswer({ version: 3 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'reports a conflict with a model of another type',
      body: withId,
      backend: [device, absent, { call: create, reply: problem(409, 'Exists', { objectId: B, type: 'tank@1.0.0' }) }],
      ack: failed(
        'http_response_error',
        'information model: create object model failed with HTTP 409: Exists: as it is',
      ),
    },
    {
      it: 'answers a conflict with its own earlier creation as created',
      body: { model: 'svc.device', type: 'pump' },
      backend: [
        device,
        pumpType,
        { call: create, reply: problem(409, 'Exists', { objectId: derivedObjectId, type: 'pump@1.0.0' }) },
        {
          call: `GET /objects/${derivedObjectId}/models/svc.device`,
          reply: [200, pump({ objectId: derivedObjectId })],
        },
        noConfiguration(derivedObjectId),
      ],
      ack: ok(derivedObjectId),
    },
    {
      it: 'creates again, and updates nothing, when the model it finds is its own of an earlier delivery',
      body,
      backend: [
        device,
        pumpType,
        lookUp([pump({ objectId: derivedObjectId })]),
        { call: create, reply: [201, pumpAnswer({ objectId: derivedObjectId })] },
        noConfiguration(derivedObjectId),
      ],
      ack: ok(derivedObjectId),
    },
    {
      it: 'reads again and retries when the version changed under an update',
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, pump({ version: 1 })] },
        { call: putA, body: { ...withId, version: 1 }, reply: problem(409, 'Version mismatch') },
        { call: readA, reply: [200, pump({ version: 2 })] },
        { call: putA, body: { ...withId, version: 2 }, reply: [200, pumpAnswer({ version: 3 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'gives up after five lost races',
      body: withId,
      backend: [
        device,
        ...[1, 2, 3, 4, 5].flatMap((version) => [
          { call: readA, reply: [200, pump({ version })] } as const,
          { call: putA, body: { ...withId, version }, reply: problem(409, 'Version mismatch') },
        ]),
      ],
      ack: failed(
        'http_response_error',
        'information model: replace object model failed with HTTP 409: Version mismatch: as it is',
      ),
    },
  ],
  'lost answers': [
    {
      it: 'repeats a creation whose answer was lost under the same idempotency key',
      body: withId,
      backend: [
        device,
        absent,
        { ...creates, headers: { 'idempotency-key': idempotencyKey(create) }, reply: 'lost' },
        { ...creates, headers: { 'idempotency-key': idempotencyKey(create) } },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'reports success for its own creation when the repeat meets a model of its type and owner',
      body: withId,
      backend: [
        device,
        absent,
        { ...creates, reply: 'lost' },
        { ...creates, reply: problem(409, 'Exists', { objectId: A, type: 'pump@1.0.0' }) },
        { call: readA, reply: [200, pump()] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    ...[
      { objectId: '..' },
      { objectId: `${A}/models/svc.other#` },
      { model: '..' },
      { model: 'a/b' },
      { model: '..%2fsvc.other' },
      { model: 7 },
    ]
      .map((id) => ({ id, hostile: { ...withId, ...id } }))
      .map(({ id, hostile }) => ({
        it: `never reads an id that is no segment of a path to prove a creation: ${shown(JSON.stringify(id))}`,
        body: hostile,
        backend: [
          device,
          { ...creates, body: hostile, reply: 'lost' } as const,
          { ...creates, body: hostile, reply: problem(409, 'Exists', { objectId: A, type: 'pump@1.0.0' }) },
        ],
        ack: refusal('create', 'HTTP 409: Exists'),
      })),
    {
      it: 'updates the model of another owner that the repeat meets',
      body: withId,
      backend: [
        device,
        absent,
        { ...creates, reply: 'lost' },
        { ...creates, reply: problem(409, 'Exists', { objectId: A, type: 'pump@1.0.0' }) },
        { call: readA, reply: [200, pump({ ownerId: Q, path: 'd1/edge/sensor-1' })] },
        { call: readA, reply: [200, pump({ ownerId: Q, path: 'd1/edge/sensor-1' })] },
        { call: putA, body: { ...withId, version: 1 }, reply: [200, pumpAnswer({ version: 2, ownerId: Q })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'goes on after its own claim when the repeat of the claim is refused',
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, unownedPump()] },
        { call: claimA, headers: { 'idempotency-key': idempotencyKey(claimA) }, reply: 'lost' },
        { call: claimA, headers: { 'idempotency-key': idempotencyKey(claimA) }, reply: problem(409, 'Owned') },
        { call: readA, reply: [200, pump()] },
        { call: putA, body: { ...withId, version: 1 }, reply: [200, pumpAnswer({ version: 2 })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
    {
      it: 'is not authorized when the claim that met its own lost one is another’s',
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, unownedPump()] },
        { call: claimA, reply: 'lost' },
        { call: claimA, reply: problem(409, 'Owned by another') },
        { call: readA, reply: [200, pump({ ownerId: Q })] },
      ],
      ack: failed(
        'not_authorized',
        'information model: claim object model failed with HTTP 409: Owned by another: as it is',
      ),
    },
    {
      it: 'reports success for its own update when the repeat meets the version it has written itself',
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, pump({ version: 1 })] },
        { call: putA, reply: 'lost' },
        { call: putA, reply: problem(409, 'Version mismatch') },
        { call: readA, reply: [200, pump({ version: 2, name: 'Feed pump', variables: { speed: 3 } })] },
        noConfiguration(A),
      ],
      ack: ok(A),
    },
  ],
  notifications: [
    {
      it: 'sends the svc.configuration model of the same object to the device through which the owner is connected, in the information model’s own text',
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, pump({ path: 'gateway-1/edge/sensor-1' })] },
        { call: putA, reply: [200, pumpAnswer({ version: 2, path: 'gateway-1/edge/sensor-1' })] },
        {
          call: `GET /objects/${A}/models/svc.configuration`,
          reply: [
            200,
            `{ "objectId":"${A}","model":"svc.configuration","type":"pump.settings@1.0.0","properties":{"x":12345678901234567890}, "variables":{ },"version":1.0e0 }`,
          ],
        },
      ],
      notifications: [
        {
          device: 'gateway-1',
          properties: {
            eventType: 'Svc.InformationModel.ObjectModelUpdated',
            objectId: A,
            model: 'svc.configuration',
            target: 'edge/sensor-1',
          },
          body: `{ "objectId":"${A}","model":"svc.configuration","type":"pump.settings@1.0.0","properties":{"x":12345678901234567890}, "variables":{ },"version":1.0e0 }`,
        },
      ],
      ack: ok(A),
    },
    {
      it: 'says ObjectModelCreated when this very request created the svc.configuration model',
      body: withId,
      backend: [
        device,
        absent,
        {
          call: create,
          reply: [
            201,
            pumpAnswer({
              relatedModels: [{ model: 'svc.configuration', success: true, code: 'ok', details: '', created: true }],
            }),
          ],
        },
        { call: `GET /objects/${A}/models/svc.configuration`, reply: [200, pump({ model: 'svc.configuration' })] },
      ],
      notifications: [
        {
          properties: {
            eventType: 'Svc.InformationModel.ObjectModelCreated',
            objectId: A,
            model: 'svc.configuration',
            target: '',
          },
          body: pump({ model: 'svc.configuration' }),
        },
      ],
      ack: ok(A, [{ model: 'svc.configuration', success: true, code: 'ok', details: '' }]),
    },
    {
      it: 'says ObjectModelCreated when an update created the svc.configuration model',
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, pump()] },
        {
          call: putA,
          reply: [
            200,
            pumpAnswer({
              version: 2,
              relatedModels: [{ model: 'svc.configuration', success: true, code: 'ok', details: '', created: true }],
            }),
          ],
        },
        { call: readConfiguration, reply: [200, pump({ model: 'svc.configuration' })] },
      ],
      notifications: [
        {
          properties: {
            eventType: 'Svc.InformationModel.ObjectModelCreated',
            objectId: A,
            model: 'svc.configuration',
            target: '',
          },
          body: pump({ model: 'svc.configuration' }),
        },
      ],
      ack: ok(A, [{ model: 'svc.configuration', success: true, code: 'ok', details: '' }]),
    },
    {
      it: 'sends the svc.configuration model also to a device that wants no acknowledgement',
      properties: { ack: 'none', target: 'elsewhere' },
      body: withId,
      backend: [
        device,
        absent,
        { call: create, reply: [201, pumpAnswer({ path: 'd1/edge' })] },
        { call: readConfiguration, reply: [200, pump({ model: 'svc.configuration' })] },
      ],
      notifications: [
        {
          properties: {
            eventType: 'Svc.InformationModel.ObjectModelUpdated',
            objectId: A,
            model: 'svc.configuration',
            target: 'edge',
          },
          body: pump({ model: 'svc.configuration' }),
        },
      ],
      ack: undefined,
    },
    ...(
      [
        ['is larger than the hub can carry', 'x'.repeat(65_536), [], 'too_large'],
        ['cannot be delivered', 'x', [{ dropped: 'unknown_device' }], 'unknown_device'],
      ] as const
    ).map(([what, filler, delivery, reason]) => ({
      it: `keeps its result when the notification ${what}`,
      body: withId,
      backend: [
        device,
        absent,
        creates,
        {
          call: readConfiguration,
          reply: [200, pump({ model: 'svc.configuration', properties: { filler } })] as const,
        },
      ],
      delivery,
      notifications: [
        {
          properties: {
            eventType: 'Svc.InformationModel.ObjectModelUpdated',
            objectId: A,
            model: 'svc.configuration',
            target: '',
          },
          body: pump({ model: 'svc.configuration', properties: { filler } }),
        },
      ],
      ack: ok(A),
      log: { code: 'ok', dropped: [{ kind: 'notification', device: 'd1', reason }] },
    })),
    {
      it: 'counts as success when the svc.configuration model must not be read: it is only remarked upon',
      body: withId,
      backend: [device, absent, creates, { call: readConfiguration, reply: problem(403, 'Forbidden') }],
      ack: ok(A),
      log: {
        code: 'ok',
        remarks: [
          'no notification of svc.configuration: information model: read object model failed with HTTP 403: Forbidden: as it is',
        ],
      },
    },
    {
      it: 'counts as success when the information model fails over the svc.configuration model',
      body: withId,
      backend: [
        device,
        absent,
        creates,
        ...[1, 2, 3].map(() => ({ call: readConfiguration, reply: [500, 'out of order'] }) as const),
      ],
      ack: ok(A),
      log: { code: 'ok', remarks: [expect.stringMatching(/^no notification of svc.configuration: .*incident/)] },
    },
    {
      it: 'sends nothing for another model than svc.device',
      body: { ...withId, model: 'svc.configuration' },
      backend: [
        device,
        { call: `GET /objects/${A}/models/svc.configuration`, reply: [200, pump({ model: 'svc.configuration' })] },
        {
          call: `PUT /objects/${A}/models/svc.configuration`,
          reply: [200, pumpAnswer({ model: 'svc.configuration', version: 2 })],
        },
      ],
      ack: ok(A),
    },
    {
      it: 'sends nothing when the path of the model names no device',
      body: withId,
      backend: [device, absent, { call: create, reply: [201, pumpAnswer({ path: '/edge' })] }],
      ack: ok(A),
    },
    {
      it: 'sends nothing when the model has no owner',
      body: withId,
      backend: [device, absent, { call: create, reply: [201, { ...unownedPump(), relatedModels: [] }] }],
      ack: ok(A),
    },
  ],
});
