import { idempotencyKey } from '../../support/events.ts';
import { hostileObjectIds, objectIdFault, pathFault, shown, typeFault } from '../../support/hostileNames.ts';
import type { ScriptedCall } from '../../support/scriptedBackend.ts';
import {
  derivedObjectId,
  device,
  devicePrincipal,
  otherPumpId,
  problem,
  pump,
  pumpAnswer,
  pumpId,
  pumpType,
} from '../../support/world.ts';
import {
  absent,
  pumpBody as body,
  configurationNews,
  deviceRow,
  failure,
  forNew,
  forPump,
  isNew,
  lookUp,
  news,
  pumpRow,
  putPump,
  readConfiguration,
  registration,
  stored,
} from '../createOrUpdate/registration.ts';
import { createOrUpdateRows } from '../createOrUpdate/rows.ts';
import { messageTable } from '../table/messageTable.ts';
import { forbidden, type Row, related, writtenTwice } from '../table/row.ts';

const v1 = registration('V1');
const { created, updated, refused } = v1;
const { sent, creates, updates } = v1.named();
const properties = { objectId: pumpId };
/** A body that was not read may have named another model. */
const readProperties = { model: 'svc.device' };
const createPump = `POST /objects/${pumpId}?owner=${devicePrincipal}`;
const withModel = { model: 'svc.device', ...body };
const reads = { call: readConfiguration, reply: [200, pump({ model: 'svc.configuration' })] } as const;
const settingsOfEdge = pump({ model: 'svc.configuration', path: 'd2/edge' });
const configurationStood = related('svc.configuration', { created: false });

/** A message about the pump that creates it, with such a body for the information model. */
const creating = (it: string, given: Partial<Row>, handedOver: unknown): Row => ({
  it,
  ...sent,
  ...given,
  backend: forPump(absent, { call: createPump, body: handedOver, reply: [201, pumpAnswer()] }),
  ...created(),
});
const generating = (it: string, body: string, handedOver: string): Row => ({
  it,
  body,
  backend: forNew(pumpType, lookUp(), {
    call: `POST /objects/${derivedObjectId}?owner=${devicePrincipal}`,
    body: handedOver,
    reply: [201, pumpAnswer(isNew)],
  }),
  ...created(pump(isNew)),
});
const rejects = (it: string, details: string, given: Partial<Row>): Row => ({
  it,
  ...sent,
  ack: failure('platform_event_validation_error', details),
  ackProperties: readProperties,
  ...given,
});

const outOf = (model = 'svc.device') => `/objects/${pumpId}/models/${model}/references/out`;
const reference = (more: object = {}) => ({
  name: 'isPartOf',
  to: { objectId: otherPumpId, model: 'svc.device' },
  attributes: { isParent: true },
  ...more,
});
const strangers = (count: number) => Array.from({ length: count }, () => reference({ name: 'feeds', attributes: {} }));
const elsewhere = { to: { objectId: pumpId, model: 'svc.device' } };
const unmarked = { attributes: {} };
const references = (...data: unknown[]) => ({ call: `GET ${outOf()}`, reply: [200, { data }] }) as const;
const links = {
  call: `POST ${outOf()}`,
  body: `[{"name":"isPartOf","to":{"objectId":"${otherPumpId}","model":"svc.device"},"attributes":{"isParent":true}}]`,
  reply: [201, { data: [reference()] }],
} as const;
const parent = { objectId: otherPumpId, reference: 'isPartOf' };
const child = v1.named({ ...body, parent });
/** A child that is created, and given its parent by these calls. */
const adopts = (it: string, backend: readonly ScriptedCall[], request = child): Row =>
  pumpRow(it, request.sent, created(), [absent, request.creates, ...backend]);
/** One whose parent reference does not succeed. */
const orphan = (it: string, backend: readonly ScriptedCall[], ack: Row['ack']): Row => ({
  it,
  ...child.sent,
  backend: [device, absent, child.creates, ...backend],
  ...created(),
  ack,
  ackProperties: readProperties,
});
const differs = (from: string) =>
  failure('http_response_error', `body.parent differs from the ${from}: changing the parent is not supported`);
const parentChanged = differs('parent that the model has');
const nameTaken = differs('target of the reference of that name that the model has');

const sample = {
  ...{ properties, body, backend: forPump(absent, creates), decisive: [device, absent, creates] },
  ...created(),
  ack: { success: true, code: 'ok', details: '', relatedModels: [] },
  readProperties,
  failed: failure,
};

messageTable('V1', 'Svc.Device.Created', sample, createOrUpdateRows(v1), {
  'created, as an event': [
    pumpRow(
      'creates a model that does not exist and sends ObjectModelCreated with the whole object model {S3.2 S9.18 S15.1 S15.7 S18.2 S18.3 S18.7}',
      sent,
      created(),
      [absent, creates],
    ),
    ...(
      [
        ['the properties', { objectId: pumpId, model: 'svc.device' }, {}],
        ['the body', {}, { objectId: pumpId, model: 'svc.device' }],
        ['both', { objectId: pumpId, model: 'svc.device' }, { objectId: pumpId, model: 'svc.device' }],
        ['one each', { objectId: pumpId }, { model: 'svc.device' }],
      ] as const
    ).map(([where, inProperties, inBody]) =>
      creating(
        `takes objectId and model from ${where} {S15.2}`,
        { properties: inProperties, body: { ...inBody, ...body } },
        { ...withModel, ...inBody },
      ),
    ),
    creating(
      'takes the objectId of the properties when that of the body is null',
      { body: { ...body, objectId: null } },
      { ...withModel, objectId: null },
    ),
    creating(
      'passes the body on byte for byte, except the missing model {S15.2}',
      {
        body: '{ "type":"pump","properties":{"2":12345678901234567890,"1":1.0,"x":1e400,"ü":"\\u00fc"},"variables":{"a":1,"a":2}\n}',
      },
      '{"model":"svc.device", "type":"pump","properties":{"2":12345678901234567890,"1":1.0,"x":1e400,"ü":"\\u00fc"},"variables":{"a":1,"a":2}\n}',
    ),
    generating(
      'passes a body that names its model on unchanged, with the generated objectId in the path {S15.7}',
      '{ "model":"svc.device" ,"type":"pump","properties":{"serial":"FP-1","big":12345678901234567890} }',
      '{ "model":"svc.device" ,"type":"pump","properties":{"serial":"FP-1","big":12345678901234567890} }',
    ),
    generating(
      'passes a body that names its model in escapes on unchanged',
      '{"model":"svc\\u002edevice","type":"pump","properties":{"serial":"FP-1"}}',
      '{"model":"svc\\u002edevice","type":"pump","properties":{"serial":"FP-1"}}',
    ),
    generating(
      'counts an objectId and a parent that are null as absent',
      '{"objectId": null ,"type":"pump","properties":{"serial":"FP-1"},"parent":null}',
      '{"model":"svc.device","objectId": null ,"type":"pump","properties":{"serial":"FP-1"},"parent":null}',
    ),
    {
      it: 'treats objectIds that differ in letter case as equal',
      properties: { objectId: pumpId.toUpperCase() },
      body: { ...body, objectId: pumpId },
      backend: forPump(
        { call: `GET /objects/${pumpId.toUpperCase()}/models/svc.device`, reply: problem(404, 'Not found') },
        { call: createPump.replace(pumpId, pumpId.toUpperCase()), reply: [201, pumpAnswer()] },
      ),
      ...created(),
    },
    ...(
      [
        [
          'creates the model that the request names, which need not be svc.device; only that one is notified of {S4.3 S15.15 S18.5}',
          'svc.history',
        ],
        ['distinguishes models by letter case {S15.2}', 'SVC.Device'],
      ] as const
    ).map(([it, model]) => ({
      it,
      properties: { ...properties, model },
      body,
      backend: [
        device,
        { call: `GET /objects/${pumpId}/models/${model}`, reply: problem(404, 'Not found') },
        { call: createPump, body: { model, ...body }, reply: [201, pumpAnswer({ model })] } as const,
      ],
      ...created(pump({ model })),
    })),
    pumpRow(
      'cuts the details of a related model after 1,000 characters',
      sent,
      created(pump(), { relatedModels: [related('svc.history', { details: `${'n'.repeat(999)}…` })] }),
      [
        absent,
        {
          ...creates,
          reply: [201, pumpAnswer({ relatedModels: [related('svc.history', { details: 'n'.repeat(1_001) })] })],
        },
      ],
    ),
    {
      it: 'changes only the version of the request, to the stored one {S15.10}',
      ...sent,
      body: '{"type":"pump", "version" : 77 ,"properties":{"version":1.0}}',
      backend: forPump(stored({ version: 4 }), {
        ...updates(4),
        call: putPump,
        body: '{"type":"pump", "version" : 4 ,"properties":{"version":1.0}}',
      }),
      ...updated(pump({ version: 5 })),
    },
  ],

  parent: [
    adopts(
      'keeps the parent as an outgoing reference of the model, marked isParent, within the same model id {S15.5 S15.11}',
      [references(), links],
    ),
    pumpRow('sets it for an existing model', child.sent, updated(), [stored(), child.updates(1), references(), links]),
    {
      it: 'looks for the parent in the model id of the request {S15.8}',
      ...child.sent,
      properties: { ...properties, model: 'svc.history' },
      backend: [
        device,
        { call: `GET /objects/${pumpId}/models/svc.history`, reply: problem(404, 'Not found') },
        { call: createPump, reply: [201, pumpAnswer({ model: 'svc.history' })] },
        { call: `GET ${outOf('svc.history')}`, reply: [200, { data: [] }] },
        {
          call: `POST ${outOf('svc.history')}`,
          body: [reference({ to: { objectId: otherPumpId, model: 'svc.history' } })],
          reply: [201, { data: [reference({ to: { objectId: otherPumpId, model: 'svc.history' } })] }],
        },
      ],
      ...created(pump({ model: 'svc.history' })),
    },
    adopts('keeps a parent that is the same as before', [references(reference())]),
    adopts('keeps a parent that is the same as before, with any other references under that name', [
      references(reference({ ...elsewhere, ...unmarked }), reference()),
    ]),
    adopts(
      'treats parents whose objectIds differ in letter case as equal',
      [references(reference())],
      v1.named({ ...body, parent: { ...parent, objectId: otherPumpId.toUpperCase() } }),
    ),
    adopts('does not treat other references as the parent {S15.11}', [
      references(
        reference({ name: 'feeds', ...unmarked }),
        reference({ name: 'hangsOn', attributes: { isParent: false } }),
        reference({ name: 'heats', ...elsewhere, attributes: { isParent: 'true' } }),
      ),
      links,
    ]),
    adopts('marks an existing reference of that name and target, and keeps the text of its attributes {S15.12}', [
      {
        ...references(),
        reply: [
          200,
          `{"data":[{"name":"isPartOf","to":{"objectId":"${otherPumpId}","model":"svc.device"},"attributes":{"since":12345678901234567890, "2":1.0,"1":1e400}}]}`,
        ],
      },
      {
        ...links,
        body: `[{"name":"isPartOf","to":{"objectId":"${otherPumpId}","model":"svc.device"},"attributes":{"isParent":true,"since":12345678901234567890, "2":1.0,"1":1e400}}]`,
      },
    ]),
    adopts('marks one that said it is no parent', [references(reference({ attributes: { isParent: false } })), links]),
    adopts(
      'passes the name of the reference on unchanged, with any content',
      [
        references(),
        {
          ...links,
          body: [reference({ name: '../B/%2f?"\r\n' })],
          reply: [201, { data: [reference({ name: '../B/%2f?"\r\n' })] }],
        },
      ],
      v1.named({ ...body, parent: { ...parent, reference: '../B/%2f?"\r\n' } }),
    ),
    adopts('repeats a parent reference whose answer was lost under the same idempotency key', [
      references(),
      { ...links, headers: { 'idempotency-key': idempotencyKey(links.call) }, reply: 'lost' },
      { ...links, headers: { 'idempotency-key': idempotencyKey(links.call) } },
    ]),
    orphan(
      'fails when the model has a parent under another reference name, which stays as it is; the notification is sent, the acknowledgement names no object {S15.12 S15.17}',
      [references(reference({ name: 'hangsOn' }))],
      parentChanged,
    ),
    orphan('fails when the model has another parent {S15.12 S20.7}', [references(reference(elsewhere))], parentChanged),
    adopts('is found behind 19,999 other references', [references(...strangers(19_999), reference())]),
    orphan(
      'fails when the model has more than 20,000 references',
      [references(reference(), ...strangers(20_000))],
      failure('response_too_large', 'the object model has more than 20000 references'),
    ),
    orphan(
      'fails when the model has a parent in another model id',
      [references(reference({ to: { objectId: otherPumpId, model: 'svc.history' } }))],
      parentChanged,
    ),
    ...(
      [
        ['has no attributes', {}, elsewhere.to],
        ['says it is not the parent', { isParent: false }, elsewhere.to],
        ['is marked in a way that does not count', { isParent: 'true' }, elsewhere.to],
        ['leads into another model id', {}, { objectId: otherPumpId, model: 'svc.history' }],
      ] as const
    ).map(([what, attributes, to]) =>
      orphan(
        `fails when a reference of that name has another target, which stays unchanged, although it ${what} {S15.12}`,
        [references(reference({ to, attributes }))],
        nameTaken,
      ),
    ),
    orphan(
      'fails when one reference of that name leads to the parent, but is not marked, and another one elsewhere',
      [references(reference(unmarked), reference({ ...elsewhere, ...unmarked }))],
      nameTaken,
    ),
    orphan(
      'fails when a reference of that name and target is not marked, and the parent stands under another name',
      [references(reference(unmarked), reference({ name: 'hangsOn' }))],
      parentChanged,
    ),
    ...(
      [
        ['a reference name that the parent’s type does not know {S15.5}', 400, 'Validation failed'],
        ['a parent that does not exist {S15.8}', 404, 'Not found'],
      ] as const
    ).map(([what, status, title]) =>
      orphan(
        `fails over ${what}, although the model is there, and sends no svc.configuration`,
        [references(), { ...links, reply: problem(status, title) }],
        failure(
          'http_response_error',
          `information model: create references failed with HTTP ${status}: ${title}: as it is`,
        ),
      ),
    ),
    orphan(
      'fails when the model was deleted before its parent could be set',
      [
        { ...references(), reply: problem(404, 'Not found') },
        { ...links, reply: problem(404, 'Not found') },
      ],
      failure('http_response_error', 'information model: create references failed with HTTP 404: Not found: as it is'),
    ),
    orphan(
      'is not authorized when the parent is another’s {S15.11}',
      [references(), { ...links, reply: problem(403, 'Forbidden') }],
      failure('not_authorized', forbidden('information model: create references')),
    ),
    orphan(
      'is not authorized when the references must not be read',
      [{ ...references(), reply: problem(403, 'Forbidden') }],
      failure('not_authorized', forbidden('information model: read references')),
    ),
    {
      ...orphan('', [], {
        ...parentChanged,
        relatedModels: [{ model: 'svc.history', success: true, code: 'ok', details: '' }],
      }),
      it: 'reports related models although the parent reference failed {S15.14}',
      backend: [
        device,
        absent,
        { ...child.creates, reply: [201, pumpAnswer({ relatedModels: [related('svc.history')] })] },
        references(reference({ name: 'hangsOn' })),
      ],
    },
    deviceRow(
      'sets no parent without a registered model',
      child.sent,
      refused('create', 'HTTP 400: Validation failed'),
      [absent, { ...child.creates, reply: problem(400, 'Validation failed') }],
    ),
    ...(
      [
        [otherPumpId, 'body.parent must be an object'],
        [{}, 'body.parent.objectId is required; body.parent.reference is required'],
        [{ reference: 'isPartOf' }, 'body.parent.objectId is required'],
        [{ objectId: otherPumpId }, 'body.parent.reference is required'],
        [{ objectId: otherPumpId, reference: '' }, 'body.parent.reference must not be empty'],
        [{ objectId: otherPumpId, reference: 7 }, 'body.parent.reference must be text'],
        ...hostileObjectIds.map(
          (objectId) => [{ objectId, reference: 'isPartOf' }, `body.parent.objectId ${objectIdFault}`] as const,
        ),
      ] as const
    ).map(([wrong, details]) =>
      rejects(`refuses a parent without objectId and reference: ${shown(JSON.stringify(wrong))} {S15.5}`, details, {
        body: { ...body, parent: wrong },
      }),
    ),
  ],

  'refused without asking a backend': [
    ...[undefined, null, 7, '', '../pump', 'a/b', '..', 'pump@1.0', 'pump@x', 'pump@..', '..pump'].map((type) =>
      rejects(`must have a type that is a type reference: ${JSON.stringify(type)} {S15.4}`, typeFault(type), {
        body: { ...body, type },
      }),
    ),
    rejects(
      'lists all faults of properties {S15.6}',
      `property objectId ${objectIdFault}; property owner ${pathFault}`,
      { properties: { objectId: 'a', owner: '..' }, ackProperties: {} },
    ),
    rejects('names no other model than a body that was not read', `property owner ${pathFault}`, {
      properties: { owner: '..' },
      body: { ...body, model: 'svc.history' },
      ackProperties: {},
    }),
    rejects('lists all faults of a body {S1.5 S15.6}', `body.objectId ${objectIdFault}; body.type is required`, {
      body: { objectId: 7 },
    }),
    rejects(
      'lists contradictions to the properties beside malformed members, and compares no malformed member',
      `body.objectId ${objectIdFault}; body.type is required; property model and body.model must be the same`,
      { properties: { objectId: pumpId, model: 'svc.device' }, body: { objectId: 7, model: 'svc.history' } },
    ),
    rejects(
      'lists duplicate, too long, malformed and contradictory members all at once',
      'body.parent.objectId occurs twice; body.model has more than 65536 bytes; body.type is required; property objectId and body.objectId must be the same',
      {
        properties: { objectId: pumpId, model: 'svc.device' },
        body: `{"objectId":"${otherPumpId}","model":"${'x'.repeat(65_536)}","parent":{"objectId":1,"objectId":2}}`,
      },
    ),
    ...['objectId', 'model', 'type', 'version', 'properties', 'parent'].map((key) =>
      rejects(`refuses a body in which ${key} occurs twice`, `body.${key} occurs twice`, {
        body: writtenTwice(key, 'svc.device', { type: 'pump' }),
      }),
    ),
    ...['objectId', 'reference'].map((key) =>
      rejects(`refuses a parent in which ${key} occurs twice {S15.6}`, `body.parent.${key} occurs twice`, {
        body: `{"type":"pump","parent":{"${key}":"${otherPumpId}","${key}":"${otherPumpId}"}}`,
      }),
    ),
    rejects('ignores a duplicate key of the parent that is not read', 'body.type is required', {
      body: `{"parent":{"objectId":"${otherPumpId}","reference":"pumps","note":1,"note":2}}`,
    }),
  ],

  notifications: [
    {
      it: 'sends the requested model as the information model’s text, without its related models {S15.15 S18.1}',
      ...sent,
      backend: forPump(absent, {
        ...creates,
        reply: [
          201,
          `{ "version":1, "relatedModels" : [ {"model":"svc.history","success":true,"code":"ok","details":"","created":true} ] , "2":1,"1":1.0,"objectId":"${pumpId}","model":"svc.device","type":"pump@1.0.0","properties":{"big":12345678901234567890,"x":1e400},"variables":{ } }`,
        ],
      }),
      ...created(pump(), { relatedModels: [related('svc.history')] }),
      notifications: [
        {
          ...news('Created', pump()),
          body: `{ "version":1, "2":1,"1":1.0,"objectId":"${pumpId}","model":"svc.device","type":"pump@1.0.0","properties":{"big":12345678901234567890,"x":1e400},"variables":{ } }`,
        },
      ],
    },
    deviceRow(
      'sends the requested model first, then the svc.configuration model of the same object, to the device and target of the owner, then the acknowledgement {S1.2 S15.15 S18.4}',
      sent,
      updated(pump({ version: 2, path: 'd2' }), {
        configuration: { device: 'd2', ...news('Updated', settingsOfEdge, { target: 'edge' }) },
      }),
      [
        stored(),
        { ...updates(1), reply: [200, pumpAnswer({ version: 2, path: 'd2' })] },
        { call: readConfiguration, reply: [200, settingsOfEdge] },
      ],
    ),
    deviceRow(
      'sends ObjectModelUpdated for an existing svc.configuration model, although the requested model was created {S18.6}',
      sent,
      created(pump(), { relatedModels: [configurationStood], configuration: configurationNews('Updated') }),
      [absent, { ...creates, reply: [201, pumpAnswer({ relatedModels: [configurationStood] })] }, reads],
    ),
    {
      it: 'sends svc.configuration only once, to the request’s target, when that is the requested model {S18.5}',
      properties: { objectId: pumpId, model: 'svc.configuration' },
      body,
      backend: [
        device,
        reads,
        {
          call: `PUT /objects/${pumpId}/models/svc.configuration`,
          reply: [200, pumpAnswer({ model: 'svc.configuration', version: 2 })],
        },
      ],
      ...updated(pump({ model: 'svc.configuration', version: 2 })),
    },
    {
      it: 'sends notifications also without a requested acknowledgement and without a target {S3.5}',
      ...sent,
      properties: { ...properties, ack: 'none', target: undefined },
      backend: [device, absent, creates, reads],
      notifications: [news('Created', pump(), { target: undefined }), configurationNews('Updated')],
      ack: undefined,
    },
    ...(
      [
        ['is larger than the hub can carry', 'x'.repeat(65_536), [], 'too_large'],
        ['cannot be delivered', 'x', [{ dropped: 'queue_full' }], 'queue_full'],
      ] as const
    ).map(
      ([what, filler, delivery, reason]): Row => ({
        it: `keeps its result when the notification ${what}, and continues with the next`,
        ...sent,
        backend: [device, absent, { ...creates, reply: [201, pumpAnswer({ properties: { filler } })] }, reads],
        delivery,
        ...created(pump({ properties: { filler } }), { configuration: configurationNews('Updated') }),
        log: { code: 'ok', replies: 2, dropped: [{ kind: 'notification', device: 'd1', reason }] },
      }),
    ),
  ],
});
