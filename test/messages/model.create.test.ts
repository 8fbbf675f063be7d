import { hostileModels, shown } from '../support/hostileNames.ts';
import {
  derivedObjectId,
  device,
  devicePrincipal,
  noConfiguration,
  problem,
  pump,
  pumpAnswer,
  pumpId,
  pumpType,
  sensorPrincipal,
} from '../support/world.ts';
import {
  absent,
  configurationNews,
  failure,
  forNew,
  forPump,
  isNew,
  lookUp,
  news,
  pumpBody,
  pumpRow,
  putPump,
  readConfiguration,
  registration,
  stored,
  withMembers,
} from './createOrUpdate/registration.ts';
import { createOrUpdateRows } from './createOrUpdate/rows.ts';
import { messageTable } from './table/messageTable.ts';
import type { Row } from './table/row.ts';

const v2 = registration('V2');
const { created, failed, refused } = v2;
const { sent, creates } = v2.named();
const create = `POST /object?owner=${devicePrincipal}`;
const ok = { success: true, code: 'ok', details: '', relatedModels: [], objectId: pumpId };
const body = { model: 'svc.device', ...pumpBody };
const reads = { call: readConfiguration, reply: [200, pump({ model: 'svc.configuration' })] } as const;

/** The information model gets the body as it is or with a new objectId, and refuses it. */
const leaves = (it: string, body: object | string, handedOver = withMembers(body, {})): Row => ({
  it,
  body,
  backend: [device, { call: create, body: handedOver, reply: problem(400, 'Validation failed') }],
  ...refused('create', 'HTTP 400: Validation failed'),
});

const failedWith = (details: string) => ({ model: 'svc.history', success: false, code: 'validation_error', details });
const quoting = 'the settings of feed pump seven are at https://im.example/7';
const sample = {
  ...{ body: { objectId: pumpId, ...body }, backend: forPump(absent, creates) },
  ...{ decisive: [device, absent, creates], ack: ok, failed: failure },
};

messageTable('V2', 'model.create', sample, createOrUpdateRows(v2), {
  'created, as an action': [
    pumpRow('creates a model that does not exist, with the objectId of the request {S1.1 S9.1 S9.3}', sent, created(), [
      absent,
      creates,
    ]),
    ...(
      [
        [
          'generates an objectId when the request has none, and inserts it without other changes {S9.8}',
          '{ "model":"svc.device","type":"pump","properties":{"serial":"FP-1","big":12345678901234567890,"x":1.0,"y":1e400,"2":0,"1":0} }',
          `{"objectId":"${derivedObjectId}", "model":"svc.device","type":"pump","properties":{"serial":"FP-1","big":12345678901234567890,"x":1.0,"y":1e400,"2":0,"1":0} }`,
        ],
        [
          'counts a null objectId as absent, and replaces it by the generated one without other changes',
          '{ "objectId" : null ,"model":"svc.device","type":"pump","properties":{"serial":"FP-1","x":1.0},"parent":null }',
          `{ "objectId" : "${derivedObjectId}" ,"model":"svc.device","type":"pump","properties":{"serial":"FP-1","x":1.0},"parent":null }`,
        ],
      ] as const
    ).map(
      ([it, body, handedOver]): Row => ({
        it,
        body,
        backend: forNew(pumpType, lookUp(), { call: create, body: handedOver, reply: [201, pumpAnswer(isNew)] }),
        ...created(pump(isNew)),
      }),
    ),
    {
      it: 'passes owner names on as one value, with any content {S9.1}',
      ...sent,
      properties: { owner: 'ed%2fge/ü&x=1' },
      backend: [
        {
          call: 'GET /devices?device=d1&path=ed%252fge%2F%C3%BC%26x%3D1',
          reply: [
            200,
            { data: [{ id: sensorPrincipal, identity: 'ü&x=1', path: 'd1/ed%2fge/ü&x=1', parentId: devicePrincipal }] },
          ],
        },
        absent,
        {
          call: `POST /object?owner=${sensorPrincipal}`,
          reply: [201, pumpAnswer({ ownerId: sensorPrincipal, path: 'd1/ed%2fge/ü&x=1' })],
        },
        noConfiguration(pumpId),
      ],
      ack: ok,
    },
    {
      it: 'looks for unique numbers as they are written',
      body: '{"model":"svc.device","type":"pump","properties":{"serial":12345678901234567891}}',
      backend: forNew(
        pumpType,
        {
          call: 'POST /query',
          body: '{"model":"svc.device","type":"pump","properties":{"serial":12345678901234567891}}',
          reply: [200, JSON.stringify({ data: [pump()] }).replace('"FP-1"', '12345678901234567890')],
        },
        { call: create, reply: [201, pumpAnswer(isNew)] },
      ),
      ...created(pump(isNew)),
    },
    {
      it: 'accepts any model and type, spaces included, each as one percent-encoded path segment {S4.3}',
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
          call: `PUT /objects/${pumpId}/models/feed%20pumps%20%40%201`,
          reply: [200, pumpAnswer({ model: 'feed pumps @ 1', type: 'feed pump@2.0.0', version: 2 })],
        },
      ],
      ack: ok,
    },
    {
      it: 'covers values of its body and addresses in the details of related models, as in other texts of a backend',
      body: { objectId: pumpId, ...body, name: 'feed pump seven' },
      backend: forPump(absent, {
        call: create,
        reply: [
          201,
          pumpAnswer({ relatedModels: [quoting, ''].map((details) => ({ ...failedWith(details), created: false })) }),
        ],
      }),
      ack: { ...ok, relatedModels: [failedWith('the settings of … are at …'), failedWith('')] },
    },
  ],

  'refused, as an action': [
    leaves(
      'leaves a body without a model to the information model, which refuses it {S1.4 S9.2}',
      { type: 'pump' },
      withMembers({ type: 'pump' }, isNew),
    ),
    leaves('never puts an objectId that is not a GUID into a path {S4.2}', { ...body, objectId: `../${pumpId}` }),
    leaves('passes a body that is not an object to the information model unchanged', '[1]'),
    ...hostileModels.map((model) =>
      leaves(`never puts a model into a path that is not one path segment: ${shown(model)}`, {
        ...body,
        objectId: pumpId,
        model,
      }),
    ),
    ...['../pump', 'a/b', 'pump@1/2', 'pump@..', ''].map((type) =>
      leaves(
        `never puts a type into a path that is not one path segment: ${JSON.stringify(type)}`,
        { ...body, type },
        withMembers({ ...body, type }, isNew),
      ),
    ),
    {
      it: 'reports a conflict of a request with a malformed type',
      body: { objectId: pumpId, ...body, type: 'pump@x' },
      backend: [
        device,
        absent,
        { call: create, reply: problem(409, 'Exists', { objectId: pumpId, type: 'pump@1.0.0' }) },
      ],
      ...refused('create', 'HTTP 409: Exists'),
    },
    ...['objectId', 'model', 'type', 'version', 'properties'].map((key) => ({
      it: `refuses a body in which ${key} occurs twice`,
      body: `{"${key}":1,"${key}":2}`,
      ...failed('validation_error', `body.${key} occurs twice`),
    })),
    ...[
      { objectId: '..' },
      { objectId: `${pumpId}/models/svc.other#` },
      { model: '..' },
      { model: 'a/b' },
      { model: '..%2fsvc.other' },
      { model: 7 },
    ]
      .map((id) => ({ id, hostile: { objectId: pumpId, ...body, ...id } }))
      .map(({ id, hostile }) => ({
        it: `never reads an id that is not a path segment to prove a creation: ${shown(JSON.stringify(id))} {S4.3}`,
        body: hostile,
        backend: [
          device,
          { ...creates, body: hostile, reply: 'lost' } as const,
          { ...creates, body: hostile, reply: problem(409, 'Exists', { objectId: pumpId, type: 'pump@1.0.0' }) },
        ],
        ...refused('create', 'HTTP 409: Exists'),
      })),
  ],

  notifications: [
    {
      it: 'sends the svc.configuration model of the same object to the device through which the owner is connected, in the information model’s own text {S9.15 S18.1 S18.4}',
      ...sent,
      backend: [
        device,
        stored({ path: 'gateway-1/edge/sensor-1' }),
        { call: putPump, reply: [200, pumpAnswer({ version: 2, path: 'gateway-1/edge/sensor-1' })] },
        {
          call: readConfiguration,
          reply: [
            200,
            `{ "objectId":"${pumpId}","model":"svc.configuration","type":"pump.settings@1.0.0","properties":{"x":12345678901234567890}, "variables":{ },"version":1.0e0 }`,
          ],
        },
      ],
      notifications: [
        {
          device: 'gateway-1',
          ...news('Updated', pump({ model: 'svc.configuration' }), { target: 'edge/sensor-1' }),
          body: `{ "objectId":"${pumpId}","model":"svc.configuration","type":"pump.settings@1.0.0","properties":{"x":12345678901234567890}, "variables":{ },"version":1.0e0 }`,
        },
      ],
      ack: ok,
    },
    {
      it: 'sends the svc.configuration model also to a device that requests no acknowledgement',
      ...sent,
      properties: { ack: 'none', target: 'elsewhere' },
      backend: [device, absent, { ...creates, reply: [201, pumpAnswer({ path: 'd1/edge' })] }, reads],
      notifications: [configurationNews('Updated')],
      ack: undefined,
    },
    {
      it: 'keeps its result when the notification cannot be delivered',
      ...sent,
      backend: [device, absent, creates, reads],
      delivery: [{ dropped: 'unknown_device' }],
      ...created(pump(), { configuration: configurationNews('Updated') }),
      log: { code: 'ok', dropped: [{ kind: 'notification', device: 'd1', reason: 'unknown_device' }] },
    },
    {
      it: 'sends no notification for models other than svc.device {S9.15 S18.5}',
      body: { objectId: pumpId, ...body, model: 'svc.configuration' },
      backend: [
        device,
        reads,
        {
          call: `PUT /objects/${pumpId}/models/svc.configuration`,
          reply: [200, pumpAnswer({ model: 'svc.configuration', version: 2 })],
        },
      ],
      ack: ok,
    },
  ],
});
