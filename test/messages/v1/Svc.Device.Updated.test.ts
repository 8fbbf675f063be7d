import { modelFault, objectIdFault, typeFault } from '../../support/hostileNames.ts';
import { otherPumpId, pumpAnswer, pumpId } from '../../support/world.ts';
import { body, path, properties, put, replacement, updates, withVersion } from '../replace/replacement.ts';
import { replaceRows } from '../replace/rows.ts';
import { messageTable } from '../table/messageTable.ts';
import { type Row, writtenTwice } from '../table/row.ts';

const v1 = replacement('V1');
const { done, failed } = v1;
const invalid = 'platform_event_validation_error';
const ackProperties = { ...properties, model: 'svc.device' };
const failure = (code: string, details: unknown) => ({ success: false, code, details });

const puts = (it: string, given: Partial<Row>, model = 'svc.device', answer = done()): Row => ({
  it,
  properties,
  body,
  ...given,
  backend: [
    {
      call: put.replace('svc.device', model),
      body: given.body ?? body,
      reply: [200, pumpAnswer({ model, version: 5 })],
    },
  ],
  ...answer,
  ackProperties: { ...properties, model },
});
const rejects = (it: string, details: string, given: Partial<Row>): Row => ({
  ...{ it, properties, body, ack: failure(invalid, details), ackProperties },
  ...given,
});
/** One whose body can be read, so that its version is acknowledged. */
const rejectsBody = (it: string, details: string, given: object, version = 4): Row => ({
  it,
  properties: ackProperties,
  body: { ...body, ...given },
  ...failed(invalid, details, version),
});

const sample = {
  ...{ properties: ackProperties, body, backend: [updates(4)] },
  ...{ ack: { success: true, code: 'ok', details: '', version: 4 }, ackProperties },
  ...{ failureProperties: ackProperties, failed: failure, readBody: { version: 4 } },
};

messageTable('V1', 'Svc.Device.Updated', sample, replaceRows(v1), {
  'object and model': [
    puts('updates svc.device when neither properties nor body name a model {S16.2}', {}),
    ...(
      [
        ['the properties', { model: 'svc.configuration' }, {}],
        ['the body', {}, { model: 'svc.configuration' }],
        ['both', { model: 'svc.configuration' }, { objectId: pumpId, model: 'svc.configuration' }],
      ] as const
    ).map(([where, inProperties, inBody]) =>
      puts(
        `updates the model that is named in ${where} {S16.2}`,
        { properties: { ...properties, ...inProperties }, body: { ...body, ...inBody } },
        'svc.configuration',
      ),
    ),
    {
      it: 'treats an objectId in capital letters as equal, and repeats that of the properties',
      properties: { objectId: pumpId.toUpperCase() },
      body: { ...body, objectId: pumpId },
      backend: [
        { call: `PUT ${path.replace(pumpId, pumpId.toUpperCase())}`, reply: [200, pumpAnswer({ version: 5 })] },
      ],
      ...done(),
      ackProperties: { objectId: pumpId.toUpperCase(), model: 'svc.device' },
    },
    puts('counts an objectId of the body that is null as absent', { body: { ...body, objectId: null } }),
    rejects('refuses a request without an objectId {S16.1}', 'property objectId is required', {
      properties: {},
      ackProperties: {},
    }),
    rejects('refuses an objectId that is in the body only {S16.1}', 'property objectId is required', {
      properties: {},
      body: { ...body, objectId: pumpId },
      ackProperties: {},
    }),
    rejects(
      'lists all their faults at once {S16.4}',
      `property objectId ${objectIdFault}; property model ${modelFault}`,
      { properties: { objectId: 'a', model: '' }, ackProperties: {} },
    ),
    ...['objectId', 'model', 'type'].map((key) =>
      rejects(`refuses a body in which ${key} occurs twice`, `body.${key} occurs twice`, {
        body: writtenTwice(key, 'svc', body),
        ack: { ...failure(invalid, `body.${key} occurs twice`), version: 4 },
        ackProperties: { ...properties, model: key === 'model' ? 'svc' : 'svc.device' },
      }),
    ),
    rejects(
      'lists duplicate members beside the other faults, and compares no duplicate',
      `body.objectId occurs twice; ${typeFault('')}; body.version is required; property model and body.model must be the same`,
      { properties: ackProperties, body: writtenTwice('objectId', otherPumpId, { model: 'svc.history', type: '' }) },
    ),
  ],

  'version and type, as of an event': [
    ...['9007199254740993', '12345678901234567890123'].map((version) => ({
      ...puts(
        `acknowledges version ${version} digit for digit {S16.8}`,
        { body: withVersion(` ${version} `) },
        'svc.device',
        done(5, Number(version)),
      ),
      ackText: `"version":${version}}`,
    })),
    ...(
      [
        ['4.0', 4],
        ['1e30', 1e30],
      ] as const
    ).map(([version, number]) =>
      puts(
        `acknowledges version ${version} as the integer that it is`,
        { body: withVersion(version) },
        'svc.device',
        done(5, number),
      ),
    ),
    {
      ...rejects('acknowledges a version digit for digit also when it refuses the body', '', {}),
      body: '{"version":9007199254740993}',
      ...failed(invalid, 'body.type is required', Number('9007199254740993')),
      ackText: '"version":9007199254740993}',
    },
    ...[undefined, null, 7, '', 'a/b', '..', 'pump@1.0', 'pump@x', 'pump@1.2.3-beta', '..pump'].map((type) =>
      rejectsBody(`must have a type that is a type reference: ${JSON.stringify(type)} {S16.3}`, typeFault(type), {
        type,
      }),
    ),
    ...[undefined, null, '4', 4.5, true, [4]].map((version) =>
      rejects(
        `must have a version that is an integer: ${JSON.stringify(version)}; no other is acknowledged {S16.3 S16.8}`,
        `body.version ${version === undefined ? 'is required' : 'must be an integer'}`,
        { body: { ...body, version } },
      ),
    ),
    rejects('must have a version that is finite', 'body.version must be an integer', { body: withVersion('1e400') }),
    rejects('lists all faults of the body at once {S1.5 S16.4}', 'body.type is required; body.version is required', {
      body: {},
    }),
    {
      ...rejectsBody('refuses a body in which version occurs twice {S16.4}', 'body.version occurs twice', {}, 2),
      body: '{"type":"pump","version":1,"version":2}',
    },
  ],
});
