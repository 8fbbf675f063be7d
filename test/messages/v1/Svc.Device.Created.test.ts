import { expect } from 'vitest';
import { everyEvent } from '../../support/everyEvent.ts';
import {
  hostileModels,
  hostileObjectIds,
  hostilePaths,
  modelFault,
  objectIdFault,
  pathFault,
  shown,
} from '../../support/hostileNames.ts';
import { idempotencyKey } from '../../support/idempotencyKey.ts';
import { messageTable, type Row } from '../../support/messageTable.ts';
import type { ScriptedCall } from '../../support/scriptedBackend.ts';
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
} from '../../support/world.ts';

const ok = (relatedModels: unknown[] = []) => ({ success: true, code: 'ok', details: '', relatedModels });
const failed = (code: string, details: unknown) => ({ success: false, code, details, relatedModels: [] });
const refusal = (operation: string, words: string) =>
  failed('http_response_error', `information model: ${operation} failed with ${words}: as it is`);

const properties = { objectId: A };
const body = { type: 'pump', name: 'Feed pump', properties: { serial: 'FP-1' }, variables: { speed: 3 } };
const ackProperties = { objectId: A, model: 'svc.device' };
const failureProperties = { model: 'svc.device' };

const readA = `GET /objects/${A}/models/svc.device`;
const putA = `PUT /objects/${A}/models/svc.device`;
const claimA = `PUT /objects/${A}/models/svc.device/owner`;
const createA = `POST /objects/${A}?owner=${P}`;
const createNew = `POST /objects/${derivedObjectId}?owner=${P}`;
const readConfiguration = `GET /objects/${A}/models/svc.configuration`;
const absent = { call: readA, reply: problem(404, 'Not found') } as const;
const stored = (more: object = {}) => ({ call: readA, reply: [200, pump(more)] }) as const;
const lookUp = (hits: unknown[]) =>
  ({
    call: 'POST /query',
    body: '{"model":"svc.device","type":"pump","properties":{"serial":"FP-1"}}',
    reply: [200, { data: hits }],
  }) as const;
const withModel = { model: 'svc.device', ...body };
const creates = { call: createA, body: JSON.stringify(withModel), reply: [201, pumpAnswer()] } as const;
const updates = (version: number) =>
  ({
    call: putA,
    body: JSON.stringify({ version, ...body }),
    reply: [200, pumpAnswer({ version: version + 1 })],
  }) as const;

type News = NonNullable<Row['notifications']>[number];
const news = (eventType: 'Created' | 'Updated', model: object, more: Readonly<Record<string, string>> = {}): News => ({
  properties: {
    eventType: `Svc.InformationModel.ObjectModel${eventType}`,
    objectId: A,
    model: 'svc.device',
    target: 'edge',
    ...more,
  },
  body: model,
});
const created = (model: object = pump(), more: Readonly<Record<string, string>> = {}) => news('Created', model, more);
const updated = (model: object = pump({ version: 2 }), more: Readonly<Record<string, string>> = {}) =>
  news('Updated', model, more);
const isNew = { objectId: derivedObjectId };

/** A row whose request and acknowledgement are about A's `svc.device`. */
const about = (row: Partial<Row> & Pick<Row, 'it' | 'ack'>): Row => ({ properties, body, ackProperties, ...row });
/** One that fails: its acknowledgement names no object. */
const fails = (row: Partial<Row> & Pick<Row, 'it' | 'ack'>): Row => about({ ackProperties: failureProperties, ...row });
/** One that reaches no backend. */
const rejects = (it: string, details: string, given: Partial<Row>): Row =>
  fails({ it, ack: failed('platform_event_validation_error', details), ...given });

const outOf = `/objects/${A}/models/svc.device/references/out`;
const reference = (more: object = {}) => ({
  name: 'isPartOf',
  to: { objectId: B, model: 'svc.device' },
  attributes: { isParent: true },
  ...more,
});
const references = (...data: unknown[]) => ({ call: `GET ${outOf}`, reply: [200, { data }] }) as const;
const links = {
  call: `POST ${outOf}`,
  body: `[{"name":"isPartOf","to":{"objectId":"${B}","model":"svc.device"},"attributes":{"isParent":true}}]`,
  reply: [201, { data: [reference()] }],
} as const;
const parent = { objectId: B, reference: 'isPartOf' };
const withParent = { ...body, parent };
const createsChild = {
  call: createA,
  body: JSON.stringify({ model: 'svc.device', ...withParent }),
  reply: creates.reply,
};
/** A registration that succeeds, of a child whose parent reference does not. */
const orphan = (it: string, backend: readonly ScriptedCall[], ack: Row['ack'], more: Partial<Row> = {}): Row =>
  fails({
    it,
    body: withParent,
    backend: [device, absent, createsChild, ...backend],
    notifications: [created()],
    ack,
    ...more,
  });
const parentChanged = failed(
  'http_response_error',
  'body.parent differs from the parent that the model has: changing the parent is not supported',
);

const nameTaken = failed(
  'http_response_error',
  'body.parent differs from the target of the reference of that name that the model has: changing the parent is not supported',
);
const seventy = Array.from({ length: 70 }, (_, index) => `svc.history.${index}`);

const related = (model: string, more: object = {}) => ({
  model,
  success: true,
  code: 'ok',
  details: '',
  created: true,
  ...more,
});

/** 700 related models, every seventh of which failed. */
const many = (name: string) =>
  Array.from({ length: 700 }, (_, n) =>
    n % 7 === 0
      ? related(`${name}-${n}`, { success: false, code: 'validation_error', details: 'd'.repeat(200), created: false })
      : related(`${name}-${n}`),
  );

messageTable('V1', 'Svc.Device.Created', {
  ...everyEvent({
    eventType: 'Svc.Device.Created',
    properties,
    body,
    backend: [device, absent, creates, noConfiguration(A)],
    decisive: [device, absent, creates],
    notifications: [created()],
    ack: ok(),
    ackProperties,
    failureProperties,
    failed,
  }),

  created: [
    about({
      it: 'creates a model that does not exist and sends ObjectModelCreated with the whole object model',
      backend: [device, absent, creates, noConfiguration(A)],
      notifications: [created()],
      ack: ok(),
    }),
    ...(
      [
        ['the properties', { objectId: A, model: 'svc.device' }, {}],
        ['the body', {}, { objectId: A, model: 'svc.device' }],
        ['both', { objectId: A, model: 'svc.device' }, { objectId: A, model: 'svc.device' }],
        ['one each', { objectId: A }, { model: 'svc.device' }],
      ] as const
    ).map(([where, inProperties, inBody]) =>
      about({
        it: `takes objectId and model from ${where}`,
        properties: inProperties,
        body: { ...inBody, ...body },
        backend: [
          device,
          absent,
          { call: createA, body: { ...withModel, ...inBody }, reply: [201, pumpAnswer()] },
          noConfiguration(A),
        ],
        notifications: [created()],
        ack: ok(),
      }),
    ),
    about({
      it: 'takes an objectId that differs in the case of its letters for the same',
      properties: { objectId: A.toUpperCase() },
      body: { ...body, objectId: A },
      backend: [
        device,
        { call: `GET /objects/${A.toUpperCase()}/models/svc.device`, reply: problem(404, 'Not found') },
        { call: `POST /objects/${A.toUpperCase()}?owner=${P}`, reply: [201, pumpAnswer()] },
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok(),
    }),
    about({
      it: 'hands over the body byte for byte, but for the model it lacks',
      body: '{ "type":"pump","properties":{"2":12345678901234567890,"1":1.0,"x":1e400,"ü":"\\u00fc"},"variables":{"a":1,"a":2}\n}',
      backend: [
        device,
        absent,
        {
          call: createA,
          body: '{"model":"svc.device", "type":"pump","properties":{"2":12345678901234567890,"1":1.0,"x":1e400,"ü":"\\u00fc"},"variables":{"a":1,"a":2}\n}',
          reply: [201, pumpAnswer()],
        },
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok(),
    }),
    about({
      it: 'hands over a body that names its model as it is, the generated objectId stands in the path',
      properties: {},
      body: '{ "model":"svc.device" ,"type":"pump","properties":{"serial":"FP-1","big":12345678901234567890} }',
      backend: [
        device,
        pumpType,
        lookUp([]),
        {
          call: createNew,
          body: '{ "model":"svc.device" ,"type":"pump","properties":{"serial":"FP-1","big":12345678901234567890} }',
          reply: [201, pumpAnswer(isNew)],
        },
        noConfiguration(derivedObjectId),
      ],
      notifications: [created(pump(isNew), isNew)],
      ack: ok(),
      ackProperties: { ...ackProperties, ...isNew },
    }),
    about({
      it: 'creates a new model on every request when neither objectId nor unique properties are given',
      properties: {},
      body: { type: 'note' },
      backend: [
        device,
        {
          call: 'GET /modelDefinitions/svc.device/types/note',
          reply: [200, { model: 'svc.device', typeId: 'note', version: '1.0.0', uniqueProperties: [] }],
        },
        {
          call: createNew,
          body: '{"model":"svc.device","type":"note"}',
          reply: [201, pumpAnswer({ ...isNew, type: 'note@1.0.0' })],
        },
        noConfiguration(derivedObjectId),
      ],
      notifications: [created(pump({ ...isNew, type: 'note@1.0.0' }), isNew)],
      ack: ok(),
      ackProperties: { ...ackProperties, ...isNew },
    }),
    about({
      it: 'counts an objectId and a parent that are null as absent',
      properties: {},
      body: '{"objectId": null ,"type":"pump","properties":{"serial":"FP-1"},"parent":null}',
      backend: [
        device,
        pumpType,
        lookUp([]),
        {
          call: createNew,
          body: '{"model":"svc.device","objectId": null ,"type":"pump","properties":{"serial":"FP-1"},"parent":null}',
          reply: [201, pumpAnswer(isNew)],
        },
        noConfiguration(derivedObjectId),
      ],
      notifications: [created(pump(isNew), isNew)],
      ack: ok(),
      ackProperties: { ...ackProperties, ...isNew },
    }),
    about({
      it: 'takes the objectId of the properties when that of the body is null',
      body: { ...body, objectId: null },
      backend: [
        device,
        absent,
        { call: createA, body: { ...withModel, objectId: null }, reply: [201, pumpAnswer()] },
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok(),
    }),
    about({
      it: 'creates the model that the request names, which need not be svc.device; only that one is notified of',
      properties: { objectId: A, model: 'svc.history' },
      backend: [
        device,
        { call: `GET /objects/${A}/models/svc.history`, reply: problem(404, 'Not found') },
        {
          call: createA,
          body: JSON.stringify({ model: 'svc.history', ...body }),
          reply: [201, pumpAnswer({ model: 'svc.history' })],
        },
      ],
      notifications: [created(pump({ model: 'svc.history' }), { model: 'svc.history' })],
      ack: ok(),
      ackProperties: { objectId: A, model: 'svc.history' },
    }),
    about({
      it: 'tells models apart by the case of their letters',
      properties: { objectId: A, model: 'SVC.Device' },
      backend: [
        device,
        { call: `GET /objects/${A}/models/SVC.Device`, reply: problem(404, 'Not found') },
        { call: createA, reply: [201, pumpAnswer({ model: 'SVC.Device' })] },
      ],
      notifications: [created(pump({ model: 'SVC.Device' }), { model: 'SVC.Device' })],
      ack: ok(),
      ackProperties: { objectId: A, model: 'SVC.Device' },
    }),
    about({
      it: 'makes the owner of the properties the owner of the model',
      properties: { objectId: A, owner: 'edge/sensor-1' },
      backend: [
        edgeIdentity,
        absent,
        { call: `POST /objects/${A}?owner=${Q}`, reply: [201, pumpAnswer({ ownerId: Q, path: 'd1/edge/sensor-1' })] },
        noConfiguration(A),
      ],
      notifications: [created(pump({ ownerId: Q, path: 'd1/edge/sensor-1' }))],
      ack: ok(),
    }),
    about({
      it: 'reports every related model, without saying which were created',
      backend: [
        device,
        absent,
        {
          ...creates,
          reply: [
            201,
            pumpAnswer({ relatedModels: [related('svc.history'), related('svc.location', { created: false })] }),
          ],
        },
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok([
        { model: 'svc.history', success: true, code: 'ok', details: '' },
        { model: 'svc.location', success: true, code: 'ok', details: '' },
      ]),
    }),
    about({
      it: 'counts as success when a related model could not be created',
      backend: [
        device,
        absent,
        {
          ...creates,
          reply: [
            201,
            pumpAnswer({
              relatedModels: [
                related('svc.history', {
                  success: false,
                  code: 'validation_error',
                  details: 'no serial',
                  created: false,
                }),
              ],
            }),
          ],
        },
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok([{ model: 'svc.history', success: false, code: 'validation_error', details: 'no serial' }]),
    }),
    about({
      it: 'cuts the details of related models short when the acknowledgement would not fit: V1 is never compressed',
      backend: [
        device,
        absent,
        {
          ...creates,
          reply: [
            201,
            pumpAnswer({
              relatedModels: seventy.map((model) =>
                related(model, {
                  success: false,
                  code: 'validation_error',
                  details: 'n'.repeat(70_000),
                  created: false,
                }),
              ),
            }),
          ],
        },
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok(
        seventy.map((model) => ({
          model,
          success: false,
          code: 'validation_error',
          details: `${'n'.repeat(63)}…`,
        })),
      ),
    }),
    about({
      it: 'cuts the details of a related model after 1,000 characters',
      backend: [
        device,
        absent,
        {
          ...creates,
          reply: [201, pumpAnswer({ relatedModels: [related('svc.history', { details: 'n'.repeat(1_001) })] })],
        },
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok([{ model: 'svc.history', success: true, code: 'ok', details: `${'n'.repeat(999)}…` }]),
    }),
    about({
      it: 'leaves the details of 700 related models empty when the acknowledgement would not fit otherwise',
      backend: [
        device,
        absent,
        { ...creates, reply: [201, pumpAnswer({ relatedModels: many('m'.repeat(30)) })] },
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok(many('m'.repeat(30)).map(({ created: _, ...one }) => ({ ...one, details: '' }))),
    }),
    about({
      it: 'leaves related models out, those that succeeded first, and says how many, when 700 do not fit even so',
      backend: [
        device,
        absent,
        { ...creates, reply: [201, pumpAnswer({ relatedModels: many('m'.repeat(100)) })] },
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: {
        ...ok(
          many('m'.repeat(100))
            .sort((a, b) => Number(a.success) - Number(b.success))
            .slice(0, 406)
            .map(({ created: _, ...one }) => ({ ...one, details: '' })),
        ),
        details: '294 of 700 related models are left out here, all of them successful',
      },
    }),
    fails({
      it: 'does not look for a model whose unique properties the request does not all have',
      properties: {},
      body: { type: 'pump' },
      backend: [device, pumpType, { call: createNew, reply: problem(400, 'Validation failed') }],
      ack: refusal('create object model', 'HTTP 400: Validation failed'),
    }),
    fails({
      it: 'leaves a type that the registry does not know to the information model, which refuses it',
      properties: {},
      backend: [
        device,
        { call: pumpType.call, reply: problem(404, 'Not found') },
        { call: createNew, reply: problem(400, 'Validation failed') },
      ],
      ack: refusal('create object model', 'HTTP 400: Validation failed'),
    }),
  ],

  updated: [
    about({
      it: 'finds an existing model by objectId plus model, of whatever type, updates it with the stored version and sends ObjectModelUpdated',
      backend: [device, stored({ version: 4, type: 'tank@2.0.0' }), updates(4), noConfiguration(A)],
      notifications: [updated(pump({ version: 5 }))],
      ack: ok(),
    }),
    about({
      it: 'finds an existing model by type id plus unique properties when objectId is absent, of any major version',
      properties: {},
      backend: [device, pumpType, lookUp([pump({ version: 9, type: 'pump@3.1.0' })]), updates(9), noConfiguration(A)],
      notifications: [updated(pump({ version: 10 }))],
      ack: ok(),
    }),
    about({
      it: 'compares plain and wrapped values of unique properties as equal',
      properties: {},
      body: { ...body, properties: { serial: { value: 'FP-1' } } },
      backend: [
        device,
        pumpType,
        lookUp([pump()]),
        { call: putA, reply: [200, pumpAnswer({ version: 2 })] },
        noConfiguration(A),
      ],
      notifications: [updated()],
      ack: ok(),
    }),
    about({
      it: 'checks every hit of the look-up again: model, type id and values',
      properties: {},
      backend: [
        device,
        pumpType,
        lookUp([
          pump({ objectId: B, type: 'tank@1.0.0' }),
          pump({ objectId: B, model: 'svc.other' }),
          pump({ objectId: B, properties: { serial: 'FP-2' } }),
        ]),
        { call: createNew, reply: [201, pumpAnswer(isNew)] },
        noConfiguration(derivedObjectId),
      ],
      notifications: [created(pump(isNew), isNew)],
      ack: ok(),
      ackProperties: { ...ackProperties, ...isNew },
    }),
    about({
      it: 'updates when the identical request with objectId null is repeated',
      properties: {},
      body: { ...body, objectId: null },
      backend: [
        device,
        pumpType,
        lookUp([pump({ version: 2 })]),
        { call: putA, body: { version: 2, ...body, objectId: null }, reply: [200, pumpAnswer({ version: 3 })] },
        noConfiguration(A),
      ],
      notifications: [updated(pump({ version: 3 }))],
      ack: ok(),
    }),
    about({
      it: 'finds an existing model by the unique properties of a type whose base types the registry does not resolve',
      properties: {},
      backend: [
        device,
        {
          call: pumpType.call,
          reply: [200, { model: 'svc.device', typeId: 'pump', version: '1.0.0', unique: ['serial'] }],
        },
        lookUp([pump({ version: 9 })]),
        updates(9),
        noConfiguration(A),
      ],
      notifications: [updated(pump({ version: 10 }))],
      ack: ok(),
    }),
    about({
      it: 'asks for the type version that the request names, and passes it on as it is',
      properties: {},
      body: { ...body, type: 'pump@2' },
      backend: [
        device,
        { ...pumpType, call: 'GET /modelDefinitions/svc.device/types/pump/versions/2' },
        lookUp([pump()]),
        { call: putA, body: { ...body, type: 'pump@2', version: 1 }, reply: [200, pumpAnswer({ version: 2 })] },
        noConfiguration(A),
      ],
      notifications: [updated()],
      ack: ok(),
    }),
    about({
      it: 'replaces the version of the request by the stored one and changes nothing else',
      body: '{"type":"pump", "version" : 77 ,"properties":{"version":1.0}}',
      backend: [
        device,
        stored({ version: 4 }),
        {
          call: putA,
          body: '{"type":"pump", "version" : 4 ,"properties":{"version":1.0}}',
          reply: [200, pumpAnswer({ version: 5 })],
        },
        noConfiguration(A),
      ],
      notifications: [updated(pump({ version: 5 }))],
      ack: ok(),
    }),
    about({
      it: 'claims an unowned model before updating it',
      backend: [
        device,
        { call: readA, reply: [200, unownedPump()] },
        { call: claimA, body: { ownerId: P }, reply: [204] },
        updates(1),
        noConfiguration(A),
      ],
      notifications: [updated()],
      ack: ok(),
    }),
    about({
      it: 'claims an unowned model for the owner of the properties',
      properties: { objectId: A, owner: 'edge/sensor-1' },
      backend: [
        edgeIdentity,
        { call: readA, reply: [200, unownedPump()] },
        { call: claimA, body: { ownerId: Q }, reply: [204] },
        { call: putA, reply: [200, pumpAnswer({ version: 2, ownerId: Q, path: 'd1/edge/sensor-1' })] },
        noConfiguration(A),
      ],
      notifications: [updated(pump({ version: 2, ownerId: Q, path: 'd1/edge/sensor-1' }))],
      ack: ok(),
    }),
    about({
      it: 'claims no model that has any owner',
      properties: { objectId: A, owner: 'edge/sensor-1' },
      backend: [edgeIdentity, stored(), updates(1), noConfiguration(A)],
      notifications: [updated()],
      ack: ok(),
    }),
    about({
      it: 'updates again when the identical request is repeated',
      backend: [device, stored({ version: 2 }), updates(2), noConfiguration(A)],
      notifications: [updated(pump({ version: 3 }))],
      ack: ok(),
    }),
  ],

  parent: [
    about({
      it: 'keeps the parent as an outgoing reference of the model, marked isParent, within the same model id',
      body: withParent,
      backend: [device, absent, createsChild, references(), links, noConfiguration(A)],
      notifications: [created()],
      ack: ok(),
    }),
    about({
      it: 'gives a model that existed a parent too',
      body: withParent,
      backend: [
        device,
        stored(),
        { call: putA, body: JSON.stringify({ version: 1, ...withParent }), reply: [200, pumpAnswer({ version: 2 })] },
        references(),
        links,
        noConfiguration(A),
      ],
      notifications: [updated()],
      ack: ok(),
    }),
    about({
      it: 'looks for the parent in the model id of the request',
      properties: { objectId: A, model: 'svc.history' },
      body: withParent,
      backend: [
        device,
        { call: `GET /objects/${A}/models/svc.history`, reply: problem(404, 'Not found') },
        { call: createA, reply: [201, pumpAnswer({ model: 'svc.history' })] },
        { call: `GET /objects/${A}/models/svc.history/references/out`, reply: [200, { data: [] }] },
        {
          call: `POST /objects/${A}/models/svc.history/references/out`,
          body: [{ name: 'isPartOf', to: { objectId: B, model: 'svc.history' }, attributes: { isParent: true } }],
          reply: [201, { data: [reference({ to: { objectId: B, model: 'svc.history' } })] }],
        },
      ],
      notifications: [created(pump({ model: 'svc.history' }), { model: 'svc.history' })],
      ack: ok(),
      ackProperties: { objectId: A, model: 'svc.history' },
    }),
    about({
      it: 'leaves a parent alone that is the same as before',
      body: withParent,
      backend: [device, absent, createsChild, references(reference()), noConfiguration(A)],
      notifications: [created()],
      ack: ok(),
    }),
    about({
      it: 'takes a parent whose objectId differs in the case of its letters for the same',
      body: { ...body, parent: { ...parent, objectId: B.toUpperCase() } },
      backend: [device, absent, { call: createA, reply: creates.reply }, references(reference()), noConfiguration(A)],
      notifications: [created()],
      ack: ok(),
    }),
    about({
      it: 'does not take other references for the parent',
      body: withParent,
      backend: [
        device,
        absent,
        createsChild,
        references(
          reference({ name: 'feeds', attributes: {} }),
          reference({ name: 'hangsOn', attributes: { isParent: false } }),
          reference({ name: 'heats', to: { objectId: A, model: 'svc.device' }, attributes: { isParent: 'true' } }),
        ),
        links,
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok(),
    }),
    about({
      it: 'marks a reference of that name and target that was there already, and keeps its attributes as they are written',
      body: withParent,
      backend: [
        device,
        absent,
        createsChild,
        {
          call: `GET ${outOf}`,
          reply: [
            200,
            `{"data":[{"name":"isPartOf","to":{"objectId":"${B}","model":"svc.device"},"attributes":{"since":12345678901234567890, "2":1.0,"1":1e400}}]}`,
          ],
        },
        {
          ...links,
          body: `[{"name":"isPartOf","to":{"objectId":"${B}","model":"svc.device"},"attributes":{"isParent":true,"since":12345678901234567890, "2":1.0,"1":1e400}}]`,
        },
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok(),
    }),
    about({
      it: 'marks a reference that said it is not the parent',
      body: withParent,
      backend: [
        device,
        absent,
        createsChild,
        references(reference({ attributes: { isParent: false } })),
        links,
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok(),
    }),
    about({
      it: 'hands the name of the reference over as it is, whatever it contains: it is part of no path',
      body: { ...body, parent: { ...parent, reference: '../B/%2f?"\r\n' } },
      backend: [
        device,
        absent,
        { call: createA, reply: creates.reply },
        references(),
        {
          ...links,
          body: [{ ...reference(), name: '../B/%2f?"\r\n' }],
          reply: [201, { data: [reference({ name: '../B/%2f?"\r\n' })] }],
        },
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok(),
    }),
    about({
      it: 'repeats a parent reference whose answer was lost under the same idempotency key',
      body: withParent,
      backend: [
        device,
        absent,
        createsChild,
        references(),
        { ...links, headers: { 'idempotency-key': idempotencyKey(links.call) }, reply: 'lost' },
        { ...links, headers: { 'idempotency-key': idempotencyKey(links.call) } },
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok(),
    }),
    orphan(
      'fails when the model has a parent under another reference name, which stays as it is; the notification is sent, the acknowledgement names no object',
      [references(reference({ name: 'hangsOn' }))],
      parentChanged,
    ),
    orphan(
      'fails when the model has another parent',
      [references(reference({ to: { objectId: A, model: 'svc.device' } }))],
      parentChanged,
    ),
    orphan(
      'fails when the model has a parent in another model id',
      [references(reference({ to: { objectId: B, model: 'svc.history' } }))],
      parentChanged,
    ),
    ...(
      [
        ['has no attributes', {}, { objectId: A, model: 'svc.device' }],
        ['says it is not the parent', { isParent: false }, { objectId: A, model: 'svc.device' }],
        ['is marked in a way that does not count', { isParent: 'true' }, { objectId: A, model: 'svc.device' }],
        ['leads into another model id', {}, { objectId: B, model: 'svc.history' }],
      ] as const
    ).map(([what, attributes, to]) =>
      orphan(
        `fails when a reference of that name leads elsewhere, which stays as it is, although it ${what}`,
        [references(reference({ to, attributes }))],
        nameTaken,
      ),
    ),
    orphan(
      'fails when one reference of that name leads to the parent, but is not marked, and another one elsewhere',
      [
        references(
          reference({ attributes: {} }),
          reference({ to: { objectId: A, model: 'svc.device' }, attributes: {} }),
        ),
      ],
      nameTaken,
    ),
    orphan(
      'fails when a reference of that name and target is not marked, and the parent stands under another name',
      [references(reference({ attributes: {} }), reference({ name: 'hangsOn' }))],
      parentChanged,
    ),
    about({
      it: 'leaves a parent alone that is the same as before, whatever else the model refers to under that name',
      body: withParent,
      backend: [
        device,
        absent,
        createsChild,
        references(reference({ to: { objectId: A, model: 'svc.device' }, attributes: {} }), reference()),
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok(),
    }),
    ...(
      [
        ['a reference name that the parent’s type does not know', 400, 'Validation failed'],
        ['a parent that does not exist', 404, 'Not found'],
      ] as const
    ).map(([what, status, title]) =>
      orphan(
        `fails over ${what}, although the model is there, and sends no svc.configuration`,
        [references(), { ...links, reply: problem(status, title) }],
        refusal('create references', `HTTP ${status}: ${title}`),
      ),
    ),
    orphan(
      'is not authorized when the parent is another’s',
      [references(), { ...links, reply: problem(403, 'Forbidden') }],
      failed('not_authorized', 'information model: create references failed with HTTP 403: Forbidden: as it is'),
    ),
    orphan(
      'is not authorized when the references must not be read',
      [{ call: `GET ${outOf}`, reply: problem(403, 'Forbidden') }],
      failed('not_authorized', 'information model: read references failed with HTTP 403: Forbidden: as it is'),
    ),
    orphan(
      'fails over a parent reference that the information model cannot make',
      [references(), ...[1, 2, 3].map(() => ({ ...links, reply: [500, 'out of order'] }) as const)],
      failed('internal_platform_error', expect.stringMatching(/incident [0-9a-f-]{36}$/)),
    ),
    orphan(
      'takes an answer that is no list of references for our trouble, not the device’s',
      [{ call: `GET ${outOf}`, reply: [200, '[]'] }],
      failed('internal_platform_error', expect.stringMatching(/incident [0-9a-f-]{36}$/)),
    ),
    fails({
      it: 'reports related models although the parent reference failed',
      body: withParent,
      backend: [
        device,
        absent,
        { ...createsChild, reply: [201, pumpAnswer({ relatedModels: [related('svc.history')] })] },
        references(reference({ name: 'hangsOn' })),
      ],
      notifications: [created()],
      ack: { ...parentChanged, relatedModels: [{ model: 'svc.history', success: true, code: 'ok', details: '' }] },
    }),
    fails({
      it: 'sets no parent when the model could not be registered',
      body: withParent,
      backend: [device, absent, { ...createsChild, reply: problem(400, 'Validation failed') }],
      ack: refusal('create object model', 'HTTP 400: Validation failed'),
    }),
    ...(
      [
        [B, 'body.parent must be an object'],
        [{}, 'body.parent.objectId is required; body.parent.reference is required'],
        [{ reference: 'isPartOf' }, 'body.parent.objectId is required'],
        [{ objectId: B }, 'body.parent.reference is required'],
        [{ objectId: B, reference: '' }, 'body.parent.reference must not be empty'],
        [{ objectId: B, reference: 7 }, 'body.parent.reference must be text'],
        ...hostileObjectIds.map(
          (objectId) => [{ objectId, reference: 'isPartOf' }, `body.parent.objectId ${objectIdFault}`] as const,
        ),
      ] as const
    ).map(([wrong, details]) =>
      rejects(`refuses a parent without objectId and reference name: ${shown(JSON.stringify(wrong))}`, details, {
        body: { ...body, parent: wrong },
      }),
    ),
  ],

  refused: [
    fails({
      it: 'refuses an owner that is not connected through the device, before anything else happens',
      properties: { objectId: A, owner: 'edge/sensor-1' },
      backend: [{ call: edgeIdentity.call, reply: [200, { data: [] }] }],
      ack: failed('http_response_error', 'property owner names no identity that is connected through this device'),
    }),
    fails({
      it: 'refuses a device that the principal manager does not know',
      backend: [{ call: device.call, reply: [200, { data: [] }] }],
      ack: failed('http_response_error', 'the principal manager has no identity for this device'),
    }),
    fails({
      it: 'is not authorized to update what another owns',
      backend: [device, stored({ ownerId: Q }), { call: putA, reply: problem(403, 'Forbidden') }],
      ack: failed(
        'not_authorized',
        'information model: replace object model failed with HTTP 403: Forbidden: as it is',
      ),
    }),
    fails({
      it: 'is not authorized to claim what another has claimed a moment earlier, and does not update it',
      backend: [
        device,
        { call: readA, reply: [200, unownedPump()] },
        { call: claimA, reply: problem(409, 'Owned by another') },
      ],
      ack: failed(
        'not_authorized',
        'information model: claim object model failed with HTTP 409: Owned by another: as it is',
      ),
    }),
    ...['change of a unique property', 'change of type that leaves the uniqueness group'].map((what) =>
      fails({
        it: `refuses a ${what}`,
        backend: [device, stored(), { ...updates(1), reply: problem(400, 'Invalid modification') }],
        ack: refusal('replace object model', 'HTTP 400: Invalid modification'),
      }),
    ),
    fails({
      it: 'updates none of two models that have the unique properties of the request',
      properties: {},
      backend: [device, pumpType, lookUp([pump(), pump({ objectId: B })])],
      ack: failed(
        'http_response_error',
        'information model: 2 object models have the unique properties of the request; none was updated',
      ),
    }),
    fails({
      it: 'reports a model that was deleted before it could be updated',
      backend: [device, stored(), { ...updates(1), reply: problem(404, 'Not found') }],
      ack: refusal('replace object model', 'HTTP 404: Not found'),
    }),
    fails({
      it: 'is not authorized when the device may not read the type',
      properties: {},
      backend: [device, { call: pumpType.call, reply: problem(403, 'Forbidden') }],
      ack: failed('not_authorized', 'type registry: read type definition failed with HTTP 403: Forbidden: as it is'),
    }),
    fails({
      it: 'is not authorized when the device may not look for models',
      properties: {},
      backend: [device, pumpType, { ...lookUp([]), reply: problem(403, 'Forbidden') }],
      ack: failed(
        'not_authorized',
        'information model: look up object model failed with HTTP 403: Forbidden: as it is',
      ),
    }),
  ],

  'refused without asking a backend': [
    rejects(
      'refuses properties and body that name different objects',
      'property objectId and body.objectId must be the same',
      {
        body: { ...body, objectId: B },
      },
    ),
    rejects(
      'refuses properties and body that name different models',
      'property model and body.model must be the same',
      {
        properties: { objectId: A, model: 'svc.device' },
        body: { ...body, model: 'svc.history' },
      },
    ),
    rejects(
      'refuses properties and body that name models which differ in the case of their letters',
      'property model and body.model must be the same',
      { properties: { model: 'svc.device' }, body: { ...body, model: 'Svc.Device' } },
    ),
    ...hostilePaths.map((owner) =>
      rejects(
        `refuses an owner path with empty or climbing names or control characters: ${shown(owner)}`,
        `property owner ${pathFault}`,
        { properties: { objectId: A, owner } },
      ),
    ),
    ...hostileObjectIds.flatMap((objectId) => [
      rejects(
        `never puts an objectId into a path that is no GUID: ${shown(objectId)}`,
        `property objectId ${objectIdFault}`,
        {
          properties: { objectId },
        },
      ),
      rejects(`nor an objectId of the body: ${shown(objectId)}`, `body.objectId ${objectIdFault}`, {
        properties: {},
        body: { ...body, objectId },
      }),
    ]),
    ...hostileModels.flatMap((model) => [
      rejects(
        `never puts a model into a path that would not stay one segment of it: ${shown(model)}`,
        `property model ${modelFault}`,
        { properties: { objectId: A, model }, ackProperties: {} },
      ),
      rejects(`nor a model of the body: ${shown(model)}`, `body.model ${modelFault}`, {
        body: { ...body, model },
        ackProperties: {},
      }),
    ]),
    ...[undefined, null, 7, '', '../pump', 'a/b', '..', 'pump@1.0', 'pump@x', 'pump@..', '..pump'].map((type) =>
      rejects(
        `must have a type that is a type reference: ${JSON.stringify(type)}`,
        `body.type ${type === undefined ? 'is required' : typeof type === 'string' ? 'must be a type identifier, optionally with @ and a version' : 'must be a type reference'}`,
        { body: { ...body, type } },
      ),
    ),
    rejects(
      'lists all faults of the properties at once',
      `property objectId ${objectIdFault}; property owner ${pathFault}`,
      {
        properties: { objectId: 'a', owner: '..' },
      },
    ),
    rejects('lists all faults of the body at once', `body.objectId ${objectIdFault}; body.type is required`, {
      body: { objectId: 7 },
    }),
    ...['objectId', 'model', 'type', 'version', 'properties', 'parent'].map((key) =>
      rejects(`refuses a body in which ${key} occurs twice`, `body.${key} occurs twice`, {
        body: `{"${key}":"svc.device","${key}":"svc.device"}`,
      }),
    ),
    ...['objectId', 'reference'].map((key) =>
      rejects(`refuses a parent in which ${key} occurs twice`, `body.parent.${key} occurs twice`, {
        body: `{"type":"pump","parent":{"${key}":"${B}","${key}":"${B}"}}`,
      }),
    ),
    fails({
      it: 'refuses a unique property that occurs twice',
      properties: {},
      body: '{"type":"pump","properties":{"serial":"FP-1","serial":"FP-2"}}',
      backend: [device, pumpType],
      ack: failed('platform_event_validation_error', 'body.properties.serial occurs twice'),
    }),
  ],

  'repeats after a crash': [
    about({
      it: 'creates again, and gets the first answer again, when it may have been the creator of the model it finds',
      redelivered: true,
      backend: [device, stored({ version: 3 }), creates, noConfiguration(A)],
      notifications: [created()],
      ack: ok(),
    }),
    about({
      it: 'updates the model it finds when the repeat shows that somebody else created it, of another type too',
      redelivered: true,
      backend: [
        device,
        stored({ version: 3, type: 'tank@1.0.0' }),
        { ...creates, reply: problem(409, 'Exists', { objectId: A, type: 'tank@1.0.0' }) },
        updates(3),
        noConfiguration(A),
      ],
      notifications: [updated(pump({ version: 4 }))],
      ack: ok(),
    }),
    about({
      it: 'updates the model it finds although an answer to the creation was lost, for the model had been there before',
      redelivered: true,
      backend: [
        device,
        stored({ version: 3 }),
        { ...creates, reply: 'lost' },
        { ...creates, reply: problem(409, 'Exists', { objectId: A, type: 'pump@1.0.0' }) },
        updates(3),
        noConfiguration(A),
      ],
      notifications: [updated(pump({ version: 4 }))],
      ack: ok(),
    }),
  ],

  'two at the same time': [
    about({
      it: 'updates the model that somebody else created a moment earlier, and says ObjectModelUpdated',
      backend: [
        device,
        absent,
        { ...creates, reply: problem(409, 'Exists', { objectId: A, type: 'pump@1.0.0' }) },
        stored(),
        updates(1),
        noConfiguration(A),
      ],
      notifications: [updated()],
      ack: ok(),
    }),
    about({
      it: 'updates the model with the same unique properties that somebody else created a moment earlier',
      properties: {},
      backend: [
        device,
        pumpType,
        lookUp([]),
        { call: createNew, reply: problem(409, 'Exists', { objectId: A, type: 'pump@2.0.0' }) },
        stored({ version: 3 }),
        updates(3),
        noConfiguration(A),
      ],
      notifications: [updated(pump({ version: 4 }))],
      ack: ok(),
    }),
    about({
      it: 'claims the model that somebody else created a moment earlier and nobody owns',
      backend: [
        device,
        absent,
        { ...creates, reply: problem(409, 'Exists') },
        { call: readA, reply: [200, unownedPump()] },
        { call: claimA, body: { ownerId: P }, reply: [204] },
        updates(1),
        noConfiguration(A),
      ],
      notifications: [updated()],
      ack: ok(),
    }),
    fails({
      it: 'reports a conflict with a model of another type',
      backend: [device, absent, { ...creates, reply: problem(409, 'Exists', { objectId: B, type: 'tank@1.0.0' }) }],
      ack: refusal('create object model', 'HTTP 409: Exists'),
    }),
    fails({
      it: 'updates no other object than the one it names, although that one has its unique properties',
      backend: [
        device,
        absent,
        { ...creates, reply: problem(409, 'Exists', { objectId: B, type: 'pump@1.0.0' }) },
        absent,
      ],
      ack: refusal('create object model', 'HTTP 409: Exists'),
    }),
    about({
      it: 'answers a conflict with its own earlier creation as created',
      properties: {},
      body: { type: 'pump' },
      backend: [
        device,
        pumpType,
        { call: createNew, reply: problem(409, 'Exists', { ...isNew, type: 'pump@1.0.0' }) },
        { call: `GET /objects/${derivedObjectId}/models/svc.device`, reply: [200, pump(isNew)] },
        noConfiguration(derivedObjectId),
      ],
      notifications: [created(pump(isNew), isNew)],
      ack: ok(),
      ackProperties: { ...ackProperties, ...isNew },
    }),
    about({
      it: 'creates again, and updates nothing, when the model it finds is its own of an earlier delivery',
      properties: {},
      backend: [
        device,
        pumpType,
        lookUp([pump(isNew)]),
        { call: createNew, reply: [201, pumpAnswer(isNew)] },
        noConfiguration(derivedObjectId),
      ],
      notifications: [created(pump(isNew), isNew)],
      ack: ok(),
      ackProperties: { ...ackProperties, ...isNew },
    }),
    about({
      it: 'reads again and retries when the version changed under an update',
      backend: [
        device,
        stored({ version: 1 }),
        { ...updates(1), reply: problem(409, 'Version mismatch', { version: 2 }) },
        stored({ version: 2 }),
        updates(2),
        noConfiguration(A),
      ],
      notifications: [updated(pump({ version: 3 }))],
      ack: ok(),
    }),
    fails({
      it: 'gives up after five lost races',
      backend: [
        device,
        ...[1, 2, 3, 4, 5].flatMap((version) => [
          stored({ version }),
          { ...updates(version), reply: problem(409, 'Version mismatch', {}) },
        ]),
      ],
      ack: refusal('replace object model', 'HTTP 409: Version mismatch'),
    }),
  ],

  'lost answers': [
    about({
      it: 'repeats a creation whose answer was lost under the same idempotency key',
      backend: [
        device,
        absent,
        { ...creates, headers: { 'idempotency-key': idempotencyKey(createA) }, reply: 'lost' },
        { ...creates, headers: { 'idempotency-key': idempotencyKey(createA) } },
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok(),
    }),
    about({
      it: 'reports success for its own creation when the repeat meets a model of its type and owner',
      backend: [
        device,
        absent,
        { ...creates, reply: 'lost' },
        { ...creates, reply: problem(409, 'Exists', { objectId: A, type: 'pump@1.0.0' }) },
        stored(),
        noConfiguration(A),
      ],
      notifications: [created()],
      ack: ok(),
    }),
    about({
      it: 'goes on after its own claim when the repeat of the claim is refused',
      backend: [
        device,
        { call: readA, reply: [200, unownedPump()] },
        { call: claimA, headers: { 'idempotency-key': idempotencyKey(claimA) }, reply: 'lost' },
        { call: claimA, headers: { 'idempotency-key': idempotencyKey(claimA) }, reply: problem(409, 'Owned') },
        stored(),
        updates(1),
        noConfiguration(A),
      ],
      notifications: [updated()],
      ack: ok(),
    }),
    about({
      it: 'reports success for its own update when the repeat meets the version it has written itself',
      backend: [
        device,
        stored(),
        { ...updates(1), reply: 'lost' },
        { ...updates(1), reply: problem(409, 'Version mismatch', { version: 2 }) },
        stored({ version: 2, name: 'Feed pump', variables: { speed: 3 } }),
        noConfiguration(A),
      ],
      notifications: [updated(pump({ version: 2, name: 'Feed pump', variables: { speed: 3 } }))],
      ack: ok(),
    }),
  ],

  notifications: [
    about({
      it: 'sends the requested model in the information model’s own text, without what it says of related models',
      backend: [
        device,
        absent,
        {
          ...creates,
          reply: [
            201,
            `{ "version":1, "relatedModels" : [ {"model":"svc.history","success":true,"code":"ok","details":"","created":true} ] , "2":1,"1":1.0,"objectId":"${A}","model":"svc.device","type":"pump@1.0.0","properties":{"big":12345678901234567890,"x":1e400},"variables":{ } }`,
          ],
        },
      ],
      notifications: [
        {
          ...created(),
          body: `{ "version":1, "2":1,"1":1.0,"objectId":"${A}","model":"svc.device","type":"pump@1.0.0","properties":{"big":12345678901234567890,"x":1e400},"variables":{ } }`,
        },
      ],
      ack: ok([{ model: 'svc.history', success: true, code: 'ok', details: '' }]),
    }),
    about({
      it: 'sends the requested model first, then the svc.configuration model of the same object, to the device and target of the owner, then the acknowledgement',
      backend: [
        device,
        stored(),
        { ...updates(1), reply: [200, pumpAnswer({ version: 2, path: 'gateway-1/edge/sensor-1' })] },
        {
          call: readConfiguration,
          reply: [
            200,
            `{ "objectId":"${A}","model":"svc.configuration","type":"pump.settings@1.0.0","properties":{"x":12345678901234567890}, "variables":{ },"version":1.0e0 }`,
          ],
        },
      ],
      notifications: [
        updated(pump({ version: 2, path: 'gateway-1/edge/sensor-1' })),
        {
          device: 'gateway-1',
          ...updated({}, { model: 'svc.configuration', target: 'edge/sensor-1' }),
          body: `{ "objectId":"${A}","model":"svc.configuration","type":"pump.settings@1.0.0","properties":{"x":12345678901234567890}, "variables":{ },"version":1.0e0 }`,
        },
      ],
      ack: ok(),
    }),
    about({
      it: 'says ObjectModelCreated when this very request created the svc.configuration model',
      backend: [
        device,
        absent,
        { ...creates, reply: [201, pumpAnswer({ relatedModels: [related('svc.configuration')] })] },
        { call: readConfiguration, reply: [200, pump({ model: 'svc.configuration' })] },
      ],
      notifications: [
        created(),
        created(pump({ model: 'svc.configuration' }), { model: 'svc.configuration', target: '' }),
      ],
      ack: ok([{ model: 'svc.configuration', success: true, code: 'ok', details: '' }]),
    }),
    about({
      it: 'says ObjectModelUpdated of an svc.configuration model that existed, although the requested model was created',
      backend: [
        device,
        absent,
        { ...creates, reply: [201, pumpAnswer({ relatedModels: [related('svc.configuration', { created: false })] })] },
        { call: readConfiguration, reply: [200, pump({ model: 'svc.configuration' })] },
      ],
      notifications: [
        created(),
        updated(pump({ model: 'svc.configuration' }), { model: 'svc.configuration', target: '' }),
      ],
      ack: ok([{ model: 'svc.configuration', success: true, code: 'ok', details: '' }]),
    }),
    about({
      it: 'sends svc.configuration only once, to the request’s target, when that is the requested model',
      properties: { objectId: A, model: 'svc.configuration' },
      backend: [
        device,
        { call: readConfiguration, reply: [200, pump({ model: 'svc.configuration' })] },
        {
          call: `PUT /objects/${A}/models/svc.configuration`,
          reply: [200, pumpAnswer({ model: 'svc.configuration', version: 2 })],
        },
      ],
      notifications: [updated(pump({ model: 'svc.configuration', version: 2 }), { model: 'svc.configuration' })],
      ack: ok(),
      ackProperties: { objectId: A, model: 'svc.configuration' },
    }),
    about({
      it: 'sends notifications also to who wants no acknowledgement and names no target',
      properties: { objectId: A, ack: 'none', target: undefined },
      backend: [
        device,
        absent,
        creates,
        { call: readConfiguration, reply: [200, pump({ model: 'svc.configuration' })] },
      ],
      notifications: [
        created(pump(), { target: '' }),
        updated(pump({ model: 'svc.configuration' }), { model: 'svc.configuration', target: '' }),
      ],
      ack: undefined,
    }),
    about({
      it: 'sends the requested model although it has no owner, but no svc.configuration',
      backend: [device, absent, { ...creates, reply: [201, { ...unownedPump(), relatedModels: [] }] }],
      notifications: [created(unownedPump())],
      ack: ok(),
    }),
    about({
      it: 'counts as success when the svc.configuration model must not be read: it is only remarked upon',
      backend: [device, absent, creates, { call: readConfiguration, reply: problem(403, 'Forbidden') }],
      notifications: [created()],
      ack: ok(),
      log: {
        code: 'ok',
        remarks: [
          'no notification of svc.configuration: information model: read object model failed with HTTP 403: Forbidden: as it is',
        ],
      },
    }),
    ...(
      [
        ['is larger than the hub can carry', 'x'.repeat(65_536), [], 'too_large'],
        ['cannot be delivered', 'x', [{ dropped: 'queue_full' }], 'queue_full'],
      ] as const
    ).map(([what, filler, delivery, reason]) =>
      about({
        it: `keeps its result when the notification ${what}, and goes on with the next`,
        backend: [
          device,
          absent,
          { ...creates, reply: [201, pumpAnswer({ properties: { filler } })] },
          { call: readConfiguration, reply: [200, pump({ model: 'svc.configuration' })] },
        ],
        delivery,
        notifications: [
          created(pump({ properties: { filler } })),
          updated(pump({ model: 'svc.configuration' }), { model: 'svc.configuration', target: '' }),
        ],
        ack: ok(),
        log: { code: 'ok', replies: 2, dropped: [{ kind: 'notification', device: 'd1', reason }] },
      }),
    ),
  ],
});
