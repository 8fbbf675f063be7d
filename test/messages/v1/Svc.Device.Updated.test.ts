import { expect } from 'vitest';
import { everyEvent } from '../../support/everyEvent.ts';
import { hostileModels, hostileObjectIds, modelFault, objectIdFault, shown } from '../../support/hostileNames.ts';
import { idempotencyKey } from '../../support/idempotencyKey.ts';
import { messageTable, type Row } from '../../support/messageTable.ts';
import type { ScriptedCall } from '../../support/scriptedBackend.ts';
import { A, B, problem, pump, pumpAnswer } from '../../support/world.ts';

const path = `/objects/${A}/models/svc.device`;
const put = `PUT ${path}`;
const get = `GET ${path}`;
const properties = { objectId: A };
const body = { type: 'pump', properties: { serial: 'FP-1' }, variables: { speed: 3 }, version: 4 };
const ackProperties = { objectId: A, model: 'svc.device' };

const ok = (version = 4) => ({ success: true, code: 'ok', details: '', version });
const failed = (code: string, details: unknown) => ({ success: false, code, details });
const refusal = (words: string, version = 4) => ({
  ...failed('http_response_error', `information model: replace object model failed with ${words}`),
  version,
});
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

/** A row whose request and acknowledgement are about A's `svc.device`. */
const about = (row: Partial<Row> & Pick<Row, 'it' | 'ack'>): Row => ({ properties, body, ackProperties, ...row });
/** A request that reaches no backend. */
const rejects = (it: string, details: string, given: Partial<Row>): Row =>
  about({ it, ack: failed('platform_event_validation_error', details), ...given });
/** One whose body can be read, so that its version is acknowledged. */
const rejectsBody = (it: string, details: string, given: object, more: Partial<Row> = {}): Row =>
  rejects(it, details, {
    body: { ...body, ...given },
    ack: { ...failed('platform_event_validation_error', details), version: 4 },
    ...more,
  });

messageTable('V1', 'Svc.Device.Updated', {
  ...everyEvent({
    eventType: 'Svc.Device.Updated',
    properties: { objectId: A, model: 'svc.device' },
    body,
    backend: [updates(4)],
    ack: ok(),
    ackProperties,
    failureProperties: ackProperties,
    failed,
    readBody: { version: 4 },
  }),

  update: [
    about({
      it: 'replaces properties and variables of an existing object model fully, and answers the version of the request',
      backend: [{ call: put, body: JSON.stringify(body), reply: [200, pumpAnswer({ version: 5 })] }],
      ack: ok(4),
    }),
    about({
      it: 'updates svc.device when neither properties nor body name a model',
      backend: [updates(4)],
      ack: ok(),
    }),
    ...(
      [
        ['the properties', { model: 'svc.configuration' }, {}],
        ['the body', {}, { model: 'svc.configuration' }],
        ['both', { model: 'svc.configuration' }, { objectId: A, model: 'svc.configuration' }],
      ] as const
    ).map(([where, inProperties, inBody]) =>
      about({
        it: `updates the model that is named in ${where}`,
        properties: { ...properties, ...inProperties },
        body: { ...body, ...inBody },
        backend: [
          {
            call: `PUT /objects/${A}/models/svc.configuration`,
            body: JSON.stringify({ ...body, ...inBody }),
            reply: [200, pumpAnswer({ model: 'svc.configuration', version: 5 })],
          },
        ],
        ack: ok(),
        ackProperties: { objectId: A, model: 'svc.configuration' },
      }),
    ),
    about({
      it: 'tells models apart by the case of their letters',
      properties: { objectId: A, model: 'SVC.Device' },
      backend: [{ call: `PUT /objects/${A}/models/SVC.Device`, reply: problem(404, 'Not found') }],
      ack: refusal('HTTP 404: Not found: as it is'),
      ackProperties: { objectId: A, model: 'SVC.Device' },
    }),
    about({
      it: 'takes an objectId in capital letters for the same, and repeats that of the properties',
      properties: { objectId: A.toUpperCase() },
      body: { ...body, objectId: A },
      backend: [
        { call: `PUT /objects/${A.toUpperCase()}/models/svc.device`, reply: [200, pumpAnswer({ version: 5 })] },
      ],
      ack: ok(),
      ackProperties: { objectId: A.toUpperCase(), model: 'svc.device' },
    }),
    about({
      it: 'hands over the body byte for byte: 64-bit integers, 1.0, 1e400, the order of keys, white space',
      body: '{ "version":4,"type":"pump@2.0.0", "properties":{"2":12345678901234567890,"1":1.0,"x":1e400,"ü":"\\u00fc"},"variables":{"a":1,"a":2}\n}',
      backend: [
        {
          call: put,
          body: '{ "version":4,"type":"pump@2.0.0", "properties":{"2":12345678901234567890,"1":1.0,"x":1e400,"ü":"\\u00fc"},"variables":{"a":1,"a":2}\n}',
          reply: [200, pumpAnswer({ version: 5 })],
        },
      ],
      ack: ok(),
    }),
    about({
      it: 'passes on a type with a version, which switches the type definition',
      body: { ...body, type: 'tank@2.0.0' },
      backend: [
        {
          call: put,
          body: JSON.stringify({ ...body, type: 'tank@2.0.0' }),
          reply: [200, pumpAnswer({ type: 'tank@2.0.0', version: 5 })],
        },
      ],
      ack: ok(),
    }),
    about({
      it: 'passes on a type with a major version as it is',
      body: { ...body, type: 'pump@2' },
      backend: [
        { call: put, body: JSON.stringify({ ...body, type: 'pump@2' }), reply: [200, pumpAnswer({ version: 5 })] },
      ],
      ack: ok(),
    }),
    about({
      it: 'sends no notification, not even of the svc.configuration model',
      properties: { ...properties, ack: 'none' },
      backend: [{ call: put, reply: [200, pumpAnswer({ version: 5, path: 'd1/edge' })] }],
      ack: undefined,
    }),
    about({
      it: 'succeeds although a related model could not be created',
      backend: [
        {
          call: put,
          reply: [
            200,
            pumpAnswer({
              version: 5,
              relatedModels: [
                { model: 'svc.history', success: false, code: 'validation_error', details: 'no', created: false },
              ],
            }),
          ],
        },
      ],
      ack: ok(),
    }),
  ],

  version: [
    about({
      it: 'rejects a repeated update: the request is behind the stored version',
      backend: [misses(4), stored(5)],
      ack: mismatch,
    }),
    about({
      it: 'rejects a request far behind the stored version',
      body: { ...body, version: 1 },
      backend: [misses(1), stored(900)],
      ack: refusal('HTTP 409: Version mismatch: as it is', 1),
    }),
    about({
      it: 'updates repeatedly when the stored version is one behind, until it is the request’s + 1, and answers the request’s',
      backend: [misses(4), stored(3), updates(3), updates(4)],
      ack: ok(4),
    }),
    about({
      it: 'makes up for a gap of exactly 100',
      body: { ...body, version: 101 },
      backend: [misses(101), stored(1), ...Array.from({ length: 101 }, (_, n) => updates(n + 1))],
      ack: ok(101),
    }),
    about({
      it: 'refuses a gap of 101 without updating anything',
      body: { ...body, version: 102 },
      backend: [misses(102), stored(1)],
      ack: {
        ...failed(
          'platform_event_validation_error',
          'body.version is 101 ahead of the stored version 1; a gap of at most 100 is closed',
        ),
        version: 102,
      },
    }),
    about({
      it: 'takes the largest gap from a setting',
      limits: { maxVersionGap: 1 },
      backend: [misses(4), stored(2)],
      ack: {
        ...failed(
          'platform_event_validation_error',
          'body.version is 2 ahead of the stored version 2; a gap of at most 1 is closed',
        ),
        version: 4,
      },
    }),
    about({
      it: 'changes nothing but the version while it closes a gap, wherever it stands',
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
      ack: ok(),
    }),
    about({
      it: 'compares versions exactly, however large',
      body: JSON.stringify(body).replace('"version":4', '"version":9007199254740993'),
      backend: [
        { call: put, reply: problem(409, 'Version mismatch', {}) },
        { call: get, reply: [200, JSON.stringify(pump()).replace('"version":1', '"version":9007199254740994')] },
      ],
      ack: { ...mismatch, version: expect.any(Number) },
      ackText: '"version":9007199254740993}',
    }),
    ...['9007199254740993', '12345678901234567890123'].map((version) =>
      about({
        it: `acknowledges version ${version} digit for digit`,
        body: JSON.stringify(body).replace('"version":4', `"version": ${version} `),
        backend: [{ call: put, reply: [200, pumpAnswer({ version: 5 })] }],
        ack: ok(Number(version)),
        ackText: `"version":${version}}`,
      }),
    ),
    ...[
      ['4.0', 4],
      ['1e30', 1e30],
    ].map(([version, number]) =>
      about({
        it: `acknowledges version ${version} as the integer that it is`,
        body: JSON.stringify(body).replace('"version":4', `"version":${version}`),
        backend: [{ call: put, reply: [200, pumpAnswer({ version: 5 })] }],
        ack: ok(Number(number)),
      }),
    ),
    rejects('acknowledges a version digit for digit also when it refuses the body', 'body.type is required', {
      body: '{"version":9007199254740993}',
      ack: { ...failed('platform_event_validation_error', 'body.type is required'), version: expect.any(Number) },
      ackText: '"version":9007199254740993}',
    }),
    about({
      it: 'counts an objectId of the body that is null as absent',
      body: { ...body, objectId: null },
      backend: [{ call: put, body: { ...body, objectId: null }, reply: [200, pumpAnswer({ version: 5 })] }],
      ack: ok(),
    }),
    about({
      it: 'counts 4.0 as version 4',
      body: JSON.stringify(body).replace('"version":4', '"version":4.0'),
      backend: [{ call: put, reply: problem(409, 'Version mismatch', {}) }, stored(3), updates(3), updates(4)],
      ack: ok(),
    }),
  ],

  'repeats after a crash': [
    about({
      it: 'gets its answers again, one after the other, when it had closed a gap before',
      redelivered: true,
      backend: [
        misses(4),
        stored(5),
        { call: put, body: JSON.stringify(body), reply: [200, pumpAnswer({ version: 4 })] },
        { call: put, body: JSON.stringify(body), reply: [200, pumpAnswer({ version: 5 })] },
      ],
      ack: ok(),
    }),
    about({
      it: 'is rejected when it is behind and was not the one that made it so',
      redelivered: true,
      backend: [misses(4), stored(5), misses(4), stored(5)],
      ack: mismatch,
    }),
  ],

  'two at the same time': [
    about({
      it: 'tries again when the stored version reached the request’s in between',
      backend: [misses(4), stored(4), updates(4)],
      ack: ok(),
    }),
    about({
      it: 'reads again when somebody else updates while the gap is being closed',
      backend: [misses(4), stored(2), updates(2), misses(3), stored(4), updates(4)],
      ack: ok(),
    }),
    about({
      it: 'is rejected when somebody else overtakes it while the gap is being closed',
      backend: [misses(4), stored(2), updates(2), misses(3), stored(5)],
      ack: mismatch,
    }),
    about({
      it: 'gives up after losing too many races',
      backend: [misses(4), ...Array.from({ length: 5 }, () => [stored(4), misses(4)]).flat()],
      ack: mismatch,
    }),
    about({
      it: 'is rejected when the model was deleted in between',
      backend: [misses(4), { call: get, reply: problem(404, 'Not found') }],
      ack: mismatch,
    }),
    about({
      it: 'is not authorized when the model became another’s in between',
      backend: [misses(4), { call: get, reply: problem(403, 'Forbidden') }],
      ack: {
        ...failed('not_authorized', 'information model: read object model failed with HTTP 403: Forbidden: as it is'),
        version: 4,
      },
    }),
  ],

  'refused by the information model': [
    ...(
      [
        ['a model that does not exist', {}, 404, 'Not found'],
        ['a change of a unique property', { properties: { serial: 'FP-2' } }, 400, 'Invalid modification'],
        ['a change of type that leaves the uniqueness group', { type: 'note@1.0.0' }, 400, 'Invalid modification'],
        ['a switch of type definition without a type version', { type: 'tank' }, 400, 'Invalid modification'],
      ] as const
    ).map(([what, given, status, title]) =>
      about({
        it: `refuses ${what}`,
        body: { ...body, ...given },
        backend: [{ call: put, body: JSON.stringify({ ...body, ...given }), reply: problem(status, title) }],
        ack: refusal(`HTTP ${status}: ${title}: as it is`),
      }),
    ),
    about({
      it: 'stops closing a gap at the first refusal',
      backend: [misses(4), stored(2), { call: put, reply: problem(400, 'Invalid modification') }],
      ack: refusal('HTTP 400: Invalid modification: as it is'),
    }),
  ],

  'refused without asking a backend': [
    rejects('refuses a request without an objectId', 'property objectId is required', {
      properties: {},
      ackProperties: { model: 'svc.device' },
    }),
    rejects('refuses an objectId that stands in the body only', 'property objectId is required', {
      properties: {},
      body: { ...body, objectId: A },
      ackProperties: { model: 'svc.device' },
    }),
    rejectsBody(
      'refuses properties and body that name different objects',
      'property objectId and body.objectId must be the same',
      { objectId: B },
    ),
    rejectsBody(
      'refuses properties and body that name different models',
      'property model and body.model must be the same',
      { model: 'svc.other' },
      { properties: { objectId: A, model: 'svc.device' } },
    ),
    rejectsBody(
      'refuses properties and body that name models which differ in the case of their letters',
      'property model and body.model must be the same',
      { model: 'Svc.Device' },
      { properties: { objectId: A, model: 'svc.device' } },
    ),
    rejectsBody(
      'tells both when object and model disagree',
      'property objectId and body.objectId must be the same; property model and body.model must be the same',
      { objectId: B, model: 'svc.other' },
      { properties: { objectId: A, model: 'svc.device' } },
    ),
    ...hostileObjectIds.flatMap((objectId) => [
      rejects(
        `never puts an objectId into a path that is no GUID: ${shown(objectId)}`,
        `property objectId ${objectIdFault}`,
        { properties: { objectId }, ackProperties: { model: 'svc.device' } },
      ),
      rejectsBody(
        `refuses an objectId in the body that is no GUID: ${shown(objectId)}`,
        `body.objectId ${objectIdFault}`,
        {
          objectId,
        },
      ),
    ]),
    ...hostileModels.flatMap((model) => [
      rejects(
        `never puts a model into a path that would not stay one segment of it: ${shown(model)}`,
        `property model ${modelFault}`,
        { properties: { objectId: A, model }, ackProperties: { objectId: A } },
      ),
      rejectsBody(
        `nor a model of the body: ${shown(model)}`,
        `body.model ${modelFault}`,
        { model },
        { ackProperties: { objectId: A } },
      ),
    ]),
    ...[undefined, null, 7, '', 'a/b', '..', 'pump@1.0', 'pump@x', 'pump@1.2.3-beta', '..pump'].map((type) =>
      rejectsBody(
        `must have a type that is a type reference: ${JSON.stringify(type)}`,
        `body.type ${type === undefined ? 'is required' : typeof type === 'string' ? 'must be a type identifier, optionally with @ and a version' : 'must be a type reference'}`,
        { type },
      ),
    ),
    ...[undefined, null, '4', 4.5, true, [4]].map((version) =>
      rejects(
        `must have a version that is an integer: ${JSON.stringify(version)}; no other is acknowledged`,
        `body.version ${version === undefined ? 'is required' : 'must be an integer'}`,
        { body: { ...body, version } },
      ),
    ),
    rejects('must have a version that is finite', 'body.version must be an integer', {
      body: JSON.stringify(body).replace('"version":4', '"version":1e400'),
    }),
    rejects(
      'lists all faults of the properties at once',
      `property objectId ${objectIdFault}; property model ${modelFault}`,
      {
        properties: { objectId: 'a', model: '' },
        ackProperties: {},
      },
    ),
    rejects('lists all faults of the body at once', 'body.type is required; body.version is required', { body: {} }),
    ...['objectId', 'model', 'type'].map((key) =>
      rejects(`refuses a body in which ${key} occurs twice`, `body.${key} occurs twice`, {
        body: `{"${key}":"svc","${key}":"svc"}`,
        ackProperties: { objectId: A, model: key === 'model' ? 'svc' : 'svc.device' },
      }),
    ),
    rejects('refuses a body in which version occurs twice', 'body.version occurs twice', {
      body: '{"version":1,"version":2}',
      ack: { ...failed('platform_event_validation_error', 'body.version occurs twice'), version: 2 },
    }),
  ],

  'lost answers': [
    about({
      it: 'repeats an update whose answer was lost under the same idempotency key',
      backend: [
        { ...updates(4), headers: { 'idempotency-key': idempotencyKey(put) }, reply: 'lost' },
        { ...updates(4), headers: { 'idempotency-key': idempotencyKey(put) } },
      ],
      ack: ok(),
    }),
    about({
      it: 'reports success for its own update when the repeat meets the version it has written itself',
      backend: [{ ...updates(4), reply: 'lost' }, misses(4), stored(5, { variables: { speed: 3 } })],
      ack: ok(),
    }),
    about({
      it: 'does not take somebody else’s update for its own',
      backend: [{ ...updates(4), reply: 'lost' }, misses(4), stored(5, { variables: { speed: 4 } }), stored(5)],
      ack: mismatch,
    }),
    about({
      it: 'goes on closing a gap after an answer was lost, with a key of its own for each update',
      backend: [
        { ...misses(4), headers: { 'idempotency-key': idempotencyKey(put, 0) } },
        stored(2),
        { ...updates(2), headers: { 'idempotency-key': idempotencyKey(put, 1) }, reply: 'lost' },
        { ...misses(2), headers: { 'idempotency-key': idempotencyKey(put, 1) } },
        stored(3, { variables: { speed: 3 } }),
        { ...updates(3), headers: { 'idempotency-key': idempotencyKey(put, 2) } },
        { ...updates(4), headers: { 'idempotency-key': idempotencyKey(put, 3) } },
      ],
      ack: ok(),
    }),
  ],
});
