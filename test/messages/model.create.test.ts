import { expect } from 'vitest';
import { messageTable } from '../support/messageTable.ts';
import {
  A,
  B,
  derivedObjectId,
  device,
  edgeIdentity,
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
const failed = (code: string, details: string) => ({ success: false, code, details, relatedModels: [] });

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
const absent = { call: readA, reply: problem(404, 'Not found') } as const;

messageTable('V2', 'model.create', {
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
    {
      it: 'reports a modification that the information model refuses',
      body: withId,
      backend: [
        device,
        { call: readA, reply: [200, pump()] },
        { call: putA, reply: problem(400, 'Invalid modification') },
      ],
      ack: failed(
        'http_response_error',
        'information model: replace object model failed with HTTP 400: Invalid modification: as it is',
      ),
    },
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
    {
      it: 'refuses an owner path with dots',
      properties: { owner: '../d2' },
      body: withId,
      ack: failed(
        'validation_error',
        'property owner must be identity names joined by /, without empty, . or .. names or control characters',
      ),
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
        { call: create, headers: { 'idempotency-key': /^[0-9a-f-]{36}$/ }, reply: 'lost' },
        { call: create, headers: { 'idempotency-key': /^[0-9a-f-]{36}$/ }, reply: [201, pumpAnswer()] },
        noConfiguration(A),
      ],
      ack: ok(A),
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
      it: 'sends nothing when the model has no owner',
      body: withId,
      backend: [device, absent, { call: create, reply: [201, { ...unownedPump(), relatedModels: [] }] }],
      ack: ok(A),
    },
  ],
  acknowledgement: [
    { it: 'is not sent unless asked for', properties: { ack: undefined, version: 1 }, body: withId, ack: undefined },
    {
      it: 'is sent for a failure that lacks the correlationId, without it',
      properties: { correlationId: undefined },
      body: withId,
      ack: failed('validation_error', 'property correlationId is required'),
      ackProperties: { correlationId: undefined },
    },
    {
      it: 'copies target and correlationId unchanged, whatever characters they have',
      properties: { correlationId: 'c\r\n1: x', target: 'ü/%2f ' },
      body: '{',
      ack: failed('validation_error', expect.stringMatching(/^body is not well-formed JSON/)),
      ackProperties: { correlationId: 'c\r\n1: x', target: 'ü/%2f ' },
    },
  ],
});
