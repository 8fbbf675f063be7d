import { expect } from 'vitest';
import { everyAction } from '../support/everyAction.ts';
import { hostileModels, hostileObjectIds, modelFault, objectIdFault, shown } from '../support/hostileNames.ts';
import { idempotencyKey } from '../support/idempotencyKey.ts';
import { messageTable, type Row } from '../support/messageTable.ts';
import type { ScriptedCall } from '../support/scriptedBackend.ts';
import { A, B, problem, pump, pumpAnswer } from '../support/world.ts';

const path = `/objects/${A}/models/svc.device`;
const put = `PUT ${path}`;
const get = `GET ${path}`;
const properties = { objectId: A };
const body = { type: 'pump', properties: { serial: 'FP-1' }, variables: { speed: 3 }, version: 4 };

const ok = (version: number, model = 'svc.device') => ({
  success: true,
  code: 'ok',
  details: '',
  objectId: A,
  model,
  version,
});
const failed = (code: string, details: unknown) => ({ success: false, code, details });
const refusal = (words: string) =>
  failed('http_response_error', `information model: replace object model failed with ${words}`);
const mismatch = refusal('HTTP 409: Version mismatch: as it is');

/** An update with this version that succeeds. */
const updates = (version: number): ScriptedCall => ({
  call: put,
  body: JSON.stringify({ ...body, version }),
  reply: [200, pumpAnswer({ version: version + 1 })],
});
/** An update with this version although another one is stored. */
const misses = (version: number): ScriptedCall => ({
  call: put,
  body: JSON.stringify({ ...body, version }),
  reply: problem(409, 'Version mismatch', { version: 1 }),
});
const stored = (version: number, more: object = {}): ScriptedCall => ({
  call: get,
  reply: [200, pump({ version, ...more })],
});

/** A request that reaches no backend. */
const rejects = (it: string, given: Partial<Row>, details: string): Row => ({
  it,
  body,
  ...given,
  ack: failed('validation_error', details),
});

messageTable('V2', 'model.update', {
  ...everyAction({ action: 'model.update', properties, body, backend: [updates(4)], ack: ok(5), failed }),

  update: [
    {
      it: 'replaces properties and variables of an existing object model fully, and answers the version then stored',
      properties,
      body,
      backend: [{ call: put, body: JSON.stringify(body), reply: [200, pumpAnswer({ version: 5 })] }],
      ack: ok(5),
    },
    {
      it: 'updates the model that the header names',
      properties: { objectId: A, model: 'svc.configuration' },
      body,
      backend: [
        {
          call: `PUT /objects/${A}/models/svc.configuration`,
          reply: [200, pumpAnswer({ model: 'svc.configuration', version: 5 })],
        },
      ],
      ack: ok(5, 'svc.configuration'),
    },
    {
      it: 'tells models apart by the case of their letters',
      properties: { objectId: A, model: 'SVC.Device' },
      body,
      backend: [{ call: `PUT /objects/${A}/models/SVC.Device`, reply: problem(404, 'Not found') }],
      ack: refusal('HTTP 404: Not found: as it is'),
    },
    {
      it: 'goes by the ids in the header, not by those in the body',
      properties,
      body: { ...body, objectId: B, model: 'svc.other' },
      backend: [
        {
          call: put,
          body: JSON.stringify({ ...body, objectId: B, model: 'svc.other' }),
          reply: [200, pumpAnswer({ version: 5 })],
        },
      ],
      ack: ok(5),
    },
    {
      it: 'hands over the body byte for byte: 64-bit integers, 1.0, 1e400, the order of keys, white space',
      properties,
      body: '{ "version":4,"type":"pump@2.0.0", "properties":{"2":12345678901234567890,"1":1.0,"x":1e400,"ü":"\\u00fc"},"variables":{"a":1,"a":2}\n}',
      backend: [
        {
          call: put,
          body: '{ "version":4,"type":"pump@2.0.0", "properties":{"2":12345678901234567890,"1":1.0,"x":1e400,"ü":"\\u00fc"},"variables":{"a":1,"a":2}\n}',
          reply: [200, pumpAnswer({ version: 5 })],
        },
      ],
      ack: ok(5),
    },
    {
      it: 'passes on a type without a version as it is: the information model chooses',
      properties,
      body: '{"type":"pump","version":4}',
      backend: [{ call: put, body: '{"type":"pump","version":4}', reply: [200, pumpAnswer({ version: 5 })] }],
      ack: ok(5),
    },
    {
      it: 'passes on a type with a version, which switches the type definition',
      properties,
      body: { ...body, type: 'tank@2.0.0' },
      backend: [
        {
          call: put,
          body: JSON.stringify({ ...body, type: 'tank@2.0.0' }),
          reply: [200, pumpAnswer({ type: 'tank@2.0.0', version: 5 })],
        },
      ],
      ack: ok(5),
    },
    {
      it: 'percent-encodes a model id that is not ASCII',
      properties: { objectId: A, model: 'svc.gerät:1' },
      body,
      backend: [
        {
          call: `PUT /objects/${A}/models/svc.ger%C3%A4t%3A1`,
          reply: [200, pumpAnswer({ model: 'svc.gerät:1', version: 5 })],
        },
      ],
      ack: ok(5, 'svc.gerät:1'),
    },
    {
      it: 'takes an objectId in capital letters and repeats it as sent',
      properties: { objectId: A.toUpperCase() },
      body,
      backend: [
        { call: `PUT /objects/${A.toUpperCase()}/models/svc.device`, reply: [200, pumpAnswer({ version: 5 })] },
      ],
      ack: { ...ok(5), objectId: A.toUpperCase() },
    },
    {
      it: 'sends no notification, not even of the svc.configuration model',
      properties: { ...properties, ack: undefined },
      body,
      backend: [{ call: put, reply: [200, pumpAnswer({ version: 5, path: 'd1/edge' })] }],
      ack: undefined,
    },
    {
      it: 'succeeds although a related model could not be created',
      properties,
      body,
      backend: [
        {
          call: put,
          reply: [
            200,
            pumpAnswer({
              version: 5,
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
      ],
      ack: ok(5),
    },
  ],

  'repeats after a crash': [
    {
      it: 'gets its answers again, one after the other, when it had closed a gap before',
      redelivered: true,
      properties,
      body,
      backend: [
        misses(4),
        stored(5),
        { call: put, body: JSON.stringify(body), reply: [200, pumpAnswer({ version: 4 })] },
        { call: put, body: JSON.stringify(body), reply: [200, pumpAnswer({ version: 5 })] },
      ],
      ack: ok(5),
    },
    {
      it: 'is rejected when it is behind and was not the one that made it so',
      redelivered: true,
      properties,
      body,
      backend: [misses(4), stored(5), misses(4), stored(5)],
      ack: mismatch,
    },
  ],

  version: [
    {
      it: 'rejects a repeated update: the request is behind the stored version',
      properties,
      body,
      backend: [misses(4), stored(5)],
      ack: mismatch,
    },
    {
      it: 'rejects a request far behind the stored version',
      properties,
      body: { ...body, version: 1 },
      backend: [misses(1), stored(900)],
      ack: mismatch,
    },
    {
      it: 'updates repeatedly when the stored version is one behind, until it is the request’s + 1',
      properties,
      body,
      backend: [misses(4), stored(3), updates(3), updates(4)],
      ack: ok(5),
    },
    {
      it: 'makes up for a gap of exactly 100',
      properties,
      body: { ...body, version: 101 },
      backend: [misses(101), stored(1), ...Array.from({ length: 101 }, (_, n) => updates(n + 1))],
      ack: ok(102),
    },
    {
      it: 'refuses a gap of 101 without updating anything',
      properties,
      body: { ...body, version: 102 },
      backend: [misses(102), stored(1)],
      ack: failed(
        'validation_error',
        'body.version is 101 ahead of the stored version 1; a gap of at most 100 is closed',
      ),
    },
    {
      it: 'takes the largest gap from a setting',
      properties,
      body,
      limits: { maxVersionGap: 1 },
      backend: [misses(4), stored(2)],
      ack: failed('validation_error', 'body.version is 2 ahead of the stored version 2; a gap of at most 1 is closed'),
    },
    {
      it: 'changes nothing but the version while it closes a gap, wherever it stands',
      properties,
      body: '{"type":"pump", "properties":{"version":9,"big":12345678901234567890}, "version" : 4 ,"variables":{"x":1.0}}',
      backend: [
        { call: put, reply: problem(409, 'Version mismatch', { version: 3 }) },
        stored(3),
        {
          call: put,
          body: '{"type":"pump", "properties":{"version":9,"big":12345678901234567890}, "version" : 3 ,"variables":{"x":1.0}}',
          reply: [200, pumpAnswer({ version: 4 })],
        },
        {
          call: put,
          body: '{"type":"pump", "properties":{"version":9,"big":12345678901234567890}, "version" : 4 ,"variables":{"x":1.0}}',
          reply: [200, pumpAnswer({ version: 5 })],
        },
      ],
      ack: ok(5),
    },
    {
      it: 'compares versions exactly, however large',
      properties,
      body: JSON.stringify(body).replace('"version":4', '"version":9007199254740993'),
      backend: [
        { call: put, reply: problem(409, 'Version mismatch', {}) },
        { call: get, reply: [200, JSON.stringify(pump()).replace('"version":1', '"version":9007199254740994')] },
      ],
      ack: mismatch,
    },
    ...['9007199254740993', '12345678901234567890123'].map((version) => ({
      it: `acknowledges the stored version ${version} digit for digit`,
      properties,
      body: JSON.stringify(body).replace('"version":4', `"version":${version}`),
      backend: [
        {
          call: put,
          body: JSON.stringify(body).replace('"version":4', `"version":${version}`),
          reply: [200, JSON.stringify(pumpAnswer()).replace('"version":1', `"version":${version}`)],
        } as const,
      ],
      ack: ok(Number(version)),
      ackText: `"version":${version}}`,
    })),
    {
      it: 'is our trouble, not the device’s, when the version that is stored is no integer',
      properties,
      body,
      backend: [{ call: put, reply: [200, ` ${JSON.stringify(pumpAnswer({ version: 5.5 }))}`] }],
      ack: failed('internal_platform_error', expect.stringMatching(/^internal error, incident [0-9a-f-]{36}$/)),
    },
    {
      it: 'counts 4.0 as version 4',
      properties,
      body: JSON.stringify(body).replace('"version":4', '"version":4.0'),
      backend: [{ call: put, reply: problem(409, 'Version mismatch', {}) }, stored(3), updates(3), updates(4)],
      ack: ok(5),
    },
    {
      it: 'leaves a version that is no integer to the information model, which refuses it',
      properties,
      body: { ...body, version: '4' },
      backend: [
        { call: put, body: JSON.stringify({ ...body, version: '4' }), reply: problem(400, 'Validation failed') },
      ],
      ack: refusal('HTTP 400: Validation failed: as it is'),
    },
    {
      it: 'does not compare when the request has no version to compare',
      properties,
      body: { type: 'pump' },
      backend: [{ call: put, body: '{"type":"pump"}', reply: problem(409, 'Version mismatch', { version: 1 }) }],
      ack: mismatch,
    },
  ],

  'two at the same time': [
    {
      it: 'tries again when the stored version reached the request’s in between',
      properties,
      body,
      backend: [misses(4), stored(4), updates(4)],
      ack: ok(5),
    },
    {
      it: 'reads again when somebody else updates while the gap is being closed',
      properties,
      body,
      backend: [misses(4), stored(2), updates(2), misses(3), stored(4), updates(4)],
      ack: ok(5),
    },
    {
      it: 'is rejected when somebody else overtakes it while the gap is being closed',
      properties,
      body,
      backend: [misses(4), stored(2), updates(2), misses(3), stored(5)],
      ack: mismatch,
    },
    {
      it: 'gives up after losing too many races',
      properties,
      body,
      backend: [misses(4), ...Array.from({ length: 5 }, () => [stored(4), misses(4)]).flat()],
      ack: mismatch,
    },
    {
      it: 'is rejected when the model was deleted in between',
      properties,
      body,
      backend: [misses(4), { call: get, reply: problem(404, 'Not found') }],
      ack: mismatch,
    },
    {
      it: 'is not authorized when the model became another’s in between',
      properties,
      body,
      backend: [misses(4), { call: get, reply: problem(403, 'Forbidden') }],
      ack: failed('not_authorized', 'information model: read object model failed with HTTP 403: Forbidden: as it is'),
    },
  ],

  refused: [
    {
      it: 'refuses a model that does not exist',
      properties,
      body,
      backend: [{ call: put, reply: problem(404, 'Not found') }],
      ack: refusal('HTTP 404: Not found: as it is'),
    },
    {
      it: 'refuses a change of a unique property',
      properties,
      body: { ...body, properties: { serial: 'FP-2' } },
      backend: [{ call: put, reply: problem(400, 'Invalid modification') }],
      ack: refusal('HTTP 400: Invalid modification: as it is'),
    },
    {
      it: 'refuses a change of type that leaves the uniqueness group',
      properties,
      body: { ...body, type: 'note@1.0.0' },
      backend: [{ call: put, reply: problem(400, 'Invalid modification') }],
      ack: refusal('HTTP 400: Invalid modification: as it is'),
    },
    {
      it: 'refuses a switch of type definition without a type version',
      properties,
      body: { ...body, type: 'tank' },
      backend: [
        { call: put, body: JSON.stringify({ ...body, type: 'tank' }), reply: problem(400, 'Invalid modification') },
      ],
      ack: refusal('HTTP 400: Invalid modification: as it is'),
    },
    {
      it: 'stops closing a gap at the first refusal',
      properties,
      body,
      backend: [misses(4), stored(2), { call: put, reply: problem(400, 'Invalid modification') }],
      ack: refusal('HTTP 400: Invalid modification: as it is'),
    },
    {
      it: 'leaves a body that is no object to the information model as it is',
      properties,
      body: '[1]',
      backend: [{ call: put, body: '[1]', reply: problem(400, 'Validation failed') }],
      ack: refusal('HTTP 400: Validation failed: as it is'),
    },
    rejects('must name the object', {}, 'property objectId is required'),
    rejects(
      'must name it in the header: the body does not count',
      { body: { ...body, objectId: A } },
      'property objectId is required',
    ),
    ...hostileObjectIds.map((objectId) =>
      rejects(
        `never puts an objectId into a path that is no GUID: ${shown(objectId)}`,
        { properties: { objectId } },
        `property objectId ${objectIdFault}`,
      ),
    ),
    ...hostileModels.map((model) =>
      rejects(
        `never puts a model into a path that would not stay one segment of it: ${shown(model)}`,
        { properties: { objectId: A, model } },
        `property model ${modelFault}`,
      ),
    ),
    rejects(
      'lists all faults of the header at once',
      { properties: { objectId: 'a', model: '' } },
      `property objectId ${objectIdFault}; property model ${modelFault}`,
    ),
    rejects(
      'refuses a body in which version occurs twice',
      { properties, body: '{"version":1,"version":2}' },
      'body.version occurs twice',
    ),
  ],

  'lost answers': [
    {
      it: 'repeats an update whose answer was lost under the same idempotency key',
      properties,
      body,
      backend: [
        { ...updates(4), headers: { 'idempotency-key': idempotencyKey(put) }, reply: 'lost' },
        { ...updates(4), headers: { 'idempotency-key': idempotencyKey(put) } },
      ],
      ack: ok(5),
    },
    {
      it: 'reports success for its own update when the repeat meets the version it has written itself',
      properties,
      body,
      backend: [{ ...updates(4), reply: 'lost' }, misses(4), stored(5, { variables: { speed: 3 } })],
      ack: ok(5),
    },
    {
      it: 'does not take somebody else’s update for its own',
      properties,
      body,
      backend: [{ ...updates(4), reply: 'lost' }, misses(4), stored(5, { variables: { speed: 4 } }), stored(5)],
      ack: mismatch,
    },
    {
      it: 'does not take a version two higher for its own',
      properties,
      body,
      backend: [
        { ...updates(4), reply: 'lost' },
        misses(4),
        stored(6, { variables: { speed: 3 } }),
        stored(6, { variables: { speed: 3 } }),
      ],
      ack: mismatch,
    },
    {
      it: 'goes on closing a gap after an answer was lost, with a key of its own for each update',
      properties,
      body,
      backend: [
        { ...misses(4), headers: { 'idempotency-key': idempotencyKey(put, 0) } },
        stored(2),
        { ...updates(2), headers: { 'idempotency-key': idempotencyKey(put, 1) }, reply: 'lost' },
        { ...misses(2), headers: { 'idempotency-key': idempotencyKey(put, 1) } },
        stored(3, { variables: { speed: 3 } }),
        { ...updates(3), headers: { 'idempotency-key': idempotencyKey(put, 2) } },
        { ...updates(4), headers: { 'idempotency-key': idempotencyKey(put, 3) } },
      ],
      ack: ok(5),
    },
    {
      it: 'repeats what the information model was too busy for',
      properties,
      body,
      backend: [{ ...updates(4), reply: problem(503, 'Unavailable') }, { ...updates(4), reply: 'refused' }, updates(4)],
      ack: ok(5),
    },
  ],

  'garbage from the information model': [
    {
      it: 'is our trouble, not the device’s',
      properties,
      body,
      backend: [{ call: put, reply: [200, '<html>'] }],
      ack: failed('internal_platform_error', expect.stringMatching(/incident [0-9a-f-]{36}$/)),
    },
  ],
});
