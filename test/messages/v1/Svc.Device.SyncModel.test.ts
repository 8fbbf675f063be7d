import { expect } from 'vitest';
import { everyEvent } from '../../support/everyEvent.ts';
import { hostileModels, hostileObjectIds, modelFault, objectIdFault, shown } from '../../support/hostileNames.ts';
import { messageTable, type Row } from '../../support/messageTable.ts';
import type { ScriptedCall } from '../../support/scriptedBackend.ts';
import { A, B, problem, pump } from '../../support/world.ts';

const C = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc';
const D = 'dddddddd-dddd-4ddd-8ddd-dddddddddddd';

const properties = { objectId: A, model: 'svc.device' };
const ackProperties = properties;
const ok = { success: true, code: 'ok', details: '' };
const failed = (code: string, details: unknown) => ({ success: false, code, details });
const forbidden = (operation: string) =>
  failed('not_authorized', `information model: ${operation} failed with HTTP 403: Forbidden: as it is`);

const at = (objectId: string, model = 'svc.device') => `GET /objects/${objectId}/models/${model}`;
const read = (objectId: string, model = 'svc.device'): ScriptedCall => ({
  call: at(objectId, model),
  reply: [200, pump({ objectId, model })],
});
const missing = (objectId: string, model?: string): ScriptedCall => ({
  call: at(objectId, model),
  reply: problem(404, 'Not found'),
});

const to = (objectId: string, name = 'feeds', attributes: object = {}, model = 'svc.device') => ({
  name,
  to: { objectId, model },
  attributes,
});
const references = (objectId: string, ...data: unknown[]): ScriptedCall => ({
  call: `${at(objectId)}/references/out`,
  reply: [200, { data }],
});

/** The notification of one fetched model. */
const news = (objectId: string, model = 'svc.device', body: unknown = pump({ objectId, model })) => ({
  properties: { eventType: 'Svc.InformationModel.ObjectModelUpdated', objectId, model, target: 'edge' },
  body,
});

/** A row about A's `svc.device`. */
const about = (row: Partial<Row> & Pick<Row, 'it'>): Row => ({ properties, body: {}, ackProperties, ack: ok, ...row });
/** One that reaches no backend. */
const rejects = (it: string, details: string, given: Partial<Row>): Row =>
  about({ it, ack: failed('platform_event_validation_error', details), ...given });

const child = (n: number) => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`;
const children = (count: number) => Array.from({ length: count }, (_, n) => child(n));

/** A stored model whose notification takes this many bytes, as the hub counts them (C3). */
function filled(bytes: number, model = 'svc.device') {
  const { properties, body } = news(A, model, pump({ model, name: '' }));
  const names = { 'svc-messagetype': 'platformEvent', id: 'c-1', ...properties };
  const system = ['/devices/d1/messages/devicebound', 'm'.repeat(36), 'c-1', 'application/json', 'utf-8'];
  const taken = [...Object.entries(names).flat(), ...system, JSON.stringify(body)].join('');
  return pump({ model, name: 'x'.repeat(bytes - Buffer.byteLength(taken)) });
}

/** Options that real devices send with every request and that ask for nothing. */
const nothings: readonly [string, unknown][] = [
  ...['hierarchical', 'contained', 'recursive'].flatMap((name) =>
    [false, null].map((value): [string, unknown] => [name, value]),
  ),
  ...['references', 'related'].flatMap((name) => [null, [], [null]].map((value): [string, unknown] => [name, value])),
];

const contradictions: readonly (readonly string[])[] = [
  ['hierarchical', 'contained'],
  ['hierarchical', 'references'],
  ['contained', 'references'],
  ['hierarchical', 'recursive'],
  ['contained', 'recursive'],
  ['hierarchical', 'contained', 'references'],
  ['hierarchical', 'recursive', 'references'],
  ['contained', 'recursive', 'references'],
  ['hierarchical', 'contained', 'recursive', 'references'],
];

messageTable('V1', 'Svc.Device.SyncModel', {
  ...everyEvent({
    eventType: 'Svc.Device.SyncModel',
    properties,
    body: {},
    backend: [read(A)],
    notifications: [news(A)],
    ack: ok,
    ackProperties,
    failureProperties: ackProperties,
    failed,
  }),

  'the requested model': [
    about({
      it: 'is always fetched and sent as ObjectModelUpdated to the target of the request; nothing else is without options',
      backend: [read(A)],
      notifications: [news(A)],
    }),
    about({
      it: 'is sent in the information model’s own text: 64-bit integers, 1.0, 1e400, the order of keys, white space',
      backend: [
        {
          call: at(A),
          reply: [
            200,
            `{ "2":12345678901234567890,"1":1.0, "objectId":"${A}","model":"svc.device","type":"pump@1.0.0","properties":{"x":1e400,"ü":"\\u00fc"},"variables":{ },"version":1.0\n}`,
          ],
        },
      ],
      notifications: [
        news(
          A,
          'svc.device',
          `{ "2":12345678901234567890,"1":1.0, "objectId":"${A}","model":"svc.device","type":"pump@1.0.0","properties":{"x":1e400,"ü":"\\u00fc"},"variables":{ },"version":1.0\n}`,
        ),
      ],
    }),
    about({
      it: 'is sent with its related models’ names and all else that belongs to it',
      backend: [{ call: at(A), reply: [200, pump({ name: 'Feed pump', ownerId: B, path: 'd2/edge' })] }],
      notifications: [news(A, 'svc.device', pump({ name: 'Feed pump', ownerId: B, path: 'd2/edge' }))],
    }),
    ...(
      [
        ['the properties', properties, {}],
        ['the body', {}, properties],
        ['both', properties, properties],
        ['one each', { objectId: A }, { model: 'svc.device' }],
        ['the other one each', { model: 'svc.device' }, { objectId: A }],
      ] as const
    ).map(([where, inProperties, inBody]) =>
      about({
        it: `is the one that is named in ${where}`,
        properties: inProperties,
        body: inBody,
        backend: [read(A)],
        notifications: [news(A)],
      }),
    ),
    about({
      it: 'may be any model, with the case of its letters',
      properties: { objectId: A, model: 'Svc.History' },
      backend: [read(A, 'Svc.History')],
      notifications: [news(A, 'Svc.History')],
      ackProperties: { objectId: A, model: 'Svc.History' },
    }),
    about({
      it: 'is sent also to who wants no acknowledgement and names no target',
      properties: { ...properties, ack: 'none', target: undefined },
      backend: [read(A)],
      notifications: [{ ...news(A), properties: { ...news(A).properties, target: '' } }],
      ack: undefined,
    }),
    about({
      it: 'must exist',
      backend: [missing(A)],
      ack: failed('http_response_error', 'information model: there is no such object model'),
    }),
    about({
      it: 'must exist whatever else is asked for',
      body: { hierarchical: true, related: ['svc.history'] },
      backend: [missing(A)],
      ack: failed('http_response_error', 'information model: there is no such object model'),
    }),
  ],

  children: [
    about({
      it: 'are fetched over all references when hierarchical is true, in their order, but not children’s children',
      body: { hierarchical: true },
      backend: [read(A), references(A, to(C, 'a'), to(B, 'b', { isContained: false })), read(C), read(B)],
      notifications: [news(A), news(C), news(B)],
    }),
    about({
      it: 'are fetched over references that say isContained, or isContainment, when contained is true',
      body: { contained: true },
      backend: [
        read(A),
        references(
          A,
          to(B, 'a', { isContained: true }),
          to(child(1), 'b', { isContained: false }),
          to(child(2), 'c', { isContained: 'true' }),
          to(child(3), 'd', { isContained: 1, isContainment: null }),
          to(child(4), 'e'),
          to(C, 'f', { isContainment: true, isContained: false }),
        ),
        read(B),
        read(C),
      ],
      notifications: [news(A), news(B), news(C)],
    }),
    about({
      it: 'are fetched over references with the given names, with the case of their letters',
      body: { references: ['feeds', 'drains'] },
      backend: [
        read(A),
        references(A, to(C, 'drains'), to(child(1), 'Feeds'), to(child(2), 'feeds '), to(B, 'feeds')),
        read(C),
        read(B),
      ],
      notifications: [news(A), news(C), news(B)],
    }),
    about({
      it: 'are none when no reference has a given name, whatever it contains: it is part of no path',
      body: { references: ['../B', 'a/b', '%2f', ''] },
      backend: [read(A), references(A, to(B, 'feeds'))],
      notifications: [news(A)],
    }),
    about({
      it: 'are fetched within the requested model id only',
      properties: { objectId: A, model: 'svc.history' },
      body: { hierarchical: true },
      backend: [
        read(A, 'svc.history'),
        {
          call: `${at(A, 'svc.history')}/references/out`,
          reply: [
            200,
            { data: [to(B), to(C, 'feeds', {}, 'svc.history'), to(D, 'feeds', {}, 'Svc.History'), to(A, 'of')] },
          ],
        },
        read(C, 'svc.history'),
      ],
      notifications: [news(A, 'svc.history'), news(C, 'svc.history')],
      ackProperties: { objectId: A, model: 'svc.history' },
    }),
    about({
      it: 'are fetched for every child again when recursive accompanies references, level by level',
      body: { references: ['feeds'], recursive: true },
      backend: [
        read(A),
        references(A, to(B), to(C)),
        ...[read(B), read(C)],
        ...[references(B, to(child(1), 'drains'), to(D)), references(C)],
        read(D),
        references(D),
      ],
      notifications: [news(A), news(B), news(C), news(D)],
    }),
    about({
      it: 'are not fetched for children without recursive',
      body: { references: ['feeds'], recursive: false },
      backend: [read(A), references(A, to(B)), read(B)],
      notifications: [news(A), news(B)],
    }),
    about({
      it: 'are none when recursive comes alone',
      body: { recursive: true },
      backend: [read(A)],
      notifications: [news(A)],
    }),
    about({
      it: 'are visited once when they refer to each other in a circle, or to themselves',
      body: { references: ['feeds'], recursive: true },
      backend: [
        read(A),
        references(A, to(A), to(B)),
        read(B),
        references(B, to(C), to(B)),
        read(C),
        references(C, to(A), to(B)),
      ],
      notifications: [news(A), news(B), news(C)],
    }),
    about({
      it: 'are the same when their objectIds differ in the case of their letters',
      body: { references: ['feeds'], recursive: true },
      backend: [read(A), references(A, to(A.toUpperCase()), to(B), to(B.toUpperCase())), read(B), references(B)],
      notifications: [news(A), news(B)],
    }),
    about({
      it: 'are visited once when two of them lead to the same one, or two references do',
      body: { references: ['feeds', 'drains'], recursive: true },
      backend: [
        read(A),
        references(A, to(B), to(C), to(B, 'drains')),
        ...[read(B), read(C)],
        ...[references(B, to(D)), references(C, to(D), to(B))],
        read(D),
        references(D),
      ],
      notifications: [news(A), news(B), news(C), news(D)],
    }),
    about({
      it: 'that are not there are left out, with a remark in the log, and nobody looks for theirs',
      body: { references: ['feeds'], recursive: true },
      backend: [read(A), references(A, to(B), to(C)), missing(B), read(C), references(C)],
      notifications: [news(A), news(C)],
      log: { code: 'ok', remarks: [`svc.device of ${B} is not there`] },
    }),
    about({
      it: 'are none when the model was deleted before its references were read',
      body: { hierarchical: true },
      backend: [read(A), { call: `${at(A)}/references/out`, reply: problem(404, 'Not found') }],
      notifications: [news(A)],
    }),
  ],

  'related models': [
    about({
      it: 'are fetched for the requested model when they are asked for',
      body: { related: ['svc.history', 'Svc.Gerät'] },
      backend: [
        read(A),
        read(A, 'svc.history'),
        { call: at(A, 'Svc.Ger%C3%A4t'), reply: [200, pump({ model: 'Svc.Gerät' })] },
      ],
      notifications: [news(A), news(A, 'svc.history'), news(A, 'Svc.Gerät')],
    }),
    about({
      it: 'are fetched for every child as well, each sent after the model it belongs to',
      body: { hierarchical: true, related: ['svc.history', 'svc.location'] },
      backend: [
        read(A),
        ...[read(A, 'svc.history'), read(A, 'svc.location')],
        references(A, to(B), to(C)),
        ...[read(B), read(C)],
        ...[read(B, 'svc.history'), read(B, 'svc.location'), read(C, 'svc.history'), read(C, 'svc.location')],
      ],
      notifications: [A, B, C].flatMap((one) => [news(one), news(one, 'svc.history'), news(one, 'svc.location')]),
    }),
    about({
      it: 'are fetched for children of every level',
      body: { references: ['feeds'], recursive: true, related: ['svc.history'] },
      backend: [
        ...[read(A), read(A, 'svc.history'), references(A, to(B))],
        ...[read(B), read(B, 'svc.history'), references(B, to(C))],
        ...[read(C), read(C, 'svc.history'), references(C)],
      ],
      notifications: [A, B, C].flatMap((one) => [news(one), news(one, 'svc.history')]),
    }),
    about({
      it: 'are fetched with contained, too',
      body: { contained: true, related: ['svc.history'] },
      backend: [
        ...[read(A), read(A, 'svc.history')],
        references(A, to(B, 'feeds', { isContained: true })),
        ...[read(B), read(B, 'svc.history')],
      ],
      notifications: [A, B].flatMap((one) => [news(one), news(one, 'svc.history')]),
    }),
    about({
      it: 'are sent once, although they are asked for twice or are the requested model itself',
      body: { related: ['svc.device', 'svc.history', 'svc.history'] },
      backend: [read(A), read(A, 'svc.history')],
      notifications: [news(A), news(A, 'svc.history')],
    }),
    about({
      it: 'that are not there are left out, with a remark in the log',
      body: { related: ['svc.history', 'svc.location'] },
      backend: [read(A), missing(A, 'svc.history'), read(A, 'svc.location')],
      notifications: [news(A), news(A, 'svc.location')],
      log: { code: 'ok', remarks: [`svc.history of ${A} is not there`] },
    }),
  ],

  options: [
    ...nothings.map(([name, value]) =>
      about({
        it: `ask for nothing when they are false, null or empty: ${name} ${JSON.stringify(value)}`,
        body: { [name]: value },
        backend: [read(A)],
        notifications: [news(A)],
      }),
    ),
    ...(['hierarchical', 'contained'] as const).map((one) =>
      about({
        it: `may all be there as long as only one asks for something: ${one}`,
        body: {
          ...{ hierarchical: false, contained: null, recursive: false, references: [null], related: [] },
          [one]: true,
        },
        backend: [read(A), references(A, to(B, 'feeds', { isContained: true })), read(B)],
        notifications: [news(A), news(B)],
      }),
    ),
    about({
      it: 'may all be there as long as only references and recursive ask for something; null among names is none',
      body: {
        ...{ hierarchical: null, contained: false, recursive: true, references: [null, 'feeds'], related: [null] },
      },
      backend: [read(A), references(A, to(B), to(C, 'null')), read(B), references(B)],
      notifications: [news(A), news(B)],
    }),
    ...contradictions.map((names) => {
      const given = Object.fromEntries(names.map((name) => [name, name === 'references' ? ['feeds'] : true]));
      return rejects(
        `are mutually exclusive: ${names.join(', ')}`,
        `body.${names.join(' and body.')} are mutually exclusive`,
        {
          body: given,
        },
      );
    }),
    ...['hierarchical', 'contained', 'recursive'].flatMap((name) =>
      ['true', 1, [true], {}].map((value) =>
        rejects(`must be true or false: ${name} ${JSON.stringify(value)}`, `body.${name} must be true or false`, {
          body: { [name]: value },
        }),
      ),
    ),
    ...['references', 'related'].flatMap((name) =>
      ['feeds', true, { 0: 'feeds' }].map((value) =>
        rejects(`must be a list: ${name} ${JSON.stringify(value)}`, `body.${name} must be an array of texts`, {
          body: { [name]: value },
        }),
      ),
    ),
    rejects('must list texts', 'body.references[1] must be text; body.references[2] must be text', {
      body: { references: ['feeds', 7, ['a']] },
    }),
    ...hostileModels.map((model) =>
      rejects(
        `never put a related model into a path that would not stay one segment of it: ${shown(model)}`,
        `body.related[1] ${modelFault}`,
        { body: { related: ['svc.history', model] } },
      ),
    ),
    rejects(
      'are all judged at once',
      'body.hierarchical must be true or false; body.related must be an array of texts',
      {
        body: { hierarchical: 'yes', related: 'svc.history' },
      },
    ),
    ...['objectId', 'model', 'hierarchical', 'contained', 'recursive', 'references', 'related'].map((key) =>
      rejects(`must not occur twice: ${key}`, `body.${key} occurs twice`, { body: `{"${key}":null,"${key}":null}` }),
    ),
  ],

  'refused without asking a backend': [
    rejects('refuses a request that names no object', 'objectId must be given, as property or in the body', {
      properties: { model: 'svc.device' },
      ackProperties: { model: 'svc.device' },
    }),
    rejects(
      'refuses a request that names no model: here is no default',
      'model must be given, as property or in the body',
      {
        properties: { objectId: A },
        ackProperties: { objectId: A },
      },
    ),
    rejects('refuses a request that names neither', 'objectId and model must be given, as property or in the body', {
      properties: {},
      ackProperties: {},
    }),
    rejects(
      'refuses properties and body that name different objects',
      'property objectId and body.objectId must be the same',
      {
        body: { objectId: B },
      },
    ),
    rejects(
      'refuses properties and body that name different models',
      'property model and body.model must be the same',
      {
        body: { model: 'svc.history' },
      },
    ),
    rejects(
      'refuses properties and body that name models which differ in the case of their letters',
      'property model and body.model must be the same',
      { body: { model: 'Svc.Device' } },
    ),
    about({
      it: 'takes an objectId that differs in the case of its letters for the same, and repeats that of the properties',
      properties: { ...properties, objectId: A.toUpperCase() },
      body: { objectId: A },
      backend: [{ call: at(A.toUpperCase()), reply: [200, pump()] }],
      notifications: [news(A.toUpperCase(), 'svc.device', pump())],
      ackProperties: { ...properties, objectId: A.toUpperCase() },
    }),
    ...hostileObjectIds.flatMap((objectId) => [
      rejects(
        `never puts an objectId into a path that is no GUID: ${shown(objectId)}`,
        `property objectId ${objectIdFault}`,
        {
          properties: { objectId, model: 'svc.device' },
          ackProperties: { model: 'svc.device' },
        },
      ),
      rejects(`nor an objectId of the body: ${shown(objectId)}`, `body.objectId ${objectIdFault}`, {
        properties: { model: 'svc.device' },
        body: { objectId },
        ackProperties: { model: 'svc.device' },
      }),
    ]),
    ...hostileModels.flatMap((model) => [
      rejects(
        `never puts a model into a path that would not stay one segment of it: ${shown(model)}`,
        `property model ${modelFault}`,
        { properties: { objectId: A, model }, ackProperties: { objectId: A } },
      ),
      rejects(`nor a model of the body: ${shown(model)}`, `body.model ${modelFault}`, {
        properties: { objectId: A },
        body: { model },
        ackProperties: { objectId: A },
      }),
    ]),
  ],

  'failed before the first notification': [
    about({
      it: 'is not authorized when a child must not be read',
      body: { hierarchical: true },
      backend: [
        read(A),
        references(A, to(B), to(C)),
        ...[read(B), { call: at(C), reply: problem(403, 'Forbidden') } as const],
      ],
      ack: forbidden('read object model'),
    }),
    about({
      it: 'is not authorized when a related model must not be read',
      body: { related: ['svc.history'] },
      backend: [read(A), { call: at(A, 'svc.history'), reply: problem(403, 'Forbidden') }],
      ack: forbidden('read object model'),
    }),
    about({
      it: 'is not authorized when the references must not be read',
      body: { hierarchical: true },
      backend: [read(A), { call: `${at(A)}/references/out`, reply: problem(403, 'Forbidden') }],
      ack: forbidden('read references'),
    }),
    about({
      it: 'begins no further read when one has failed',
      body: { hierarchical: true },
      backend: [
        read(A),
        references(A, ...children(40).map((one) => to(one))),
        { call: at(child(0)), reply: problem(403, 'Forbidden') },
        ...[1, 2, 3, 4, 5, 6, 7].map((n) => read(child(n))),
      ],
      ack: forbidden('read object model'),
    }),
    about({
      it: 'ends with an incident when the information model fails over a child',
      body: { hierarchical: true },
      backend: [
        read(A),
        references(A, to(B)),
        ...[1, 2, 3].map(() => ({ call: at(B), reply: [500, 'out of order'] }) as const),
      ],
      ack: failed('internal_platform_error', expect.stringMatching(/incident [0-9a-f-]{36}$/)),
    }),
    about({
      it: 'ends with an incident when a reference leads to what is no GUID',
      body: { hierarchical: true },
      backend: [
        read(A),
        {
          call: `${at(A)}/references/out`,
          reply: [200, `\n${JSON.stringify({ data: [to('..')] })}`],
        },
      ],
      ack: failed('internal_platform_error', expect.stringMatching(/incident [0-9a-f-]{36}$/)),
    }),
    about({
      it: 'has an answer of the information model that is too large',
      backend: [{ call: at(A), reply: [200, ' '.repeat(5 * 1024 * 1024 + 1)] }],
      ack: failed('response_too_large', 'information model: read object model was answered with over 5242880 bytes'),
    }),
  ],

  'limits of one request': [
    about({
      it: 'are, by default, 200 models',
      body: { hierarchical: true },
      backend: [
        read(A),
        references(A, ...children(199).map((one) => to(one))),
        ...children(199).map((one) => read(one)),
      ],
      notifications: [A, ...children(199)].map((one) => news(one)),
    }),
    about({
      it: 'are passed by the 201st model: none is read and none is sent',
      body: { hierarchical: true },
      backend: [read(A), references(A, ...children(200).map((one) => to(one)))],
      ack: failed('response_too_large', 'the request would fetch more than 200 object models'),
    }),
    about({
      it: 'count each model once, and related ones as well',
      limits: { maxSyncModels: 4 },
      body: { references: ['feeds'], recursive: true, related: ['svc.history'] },
      backend: [
        ...[read(A), read(A, 'svc.history'), references(A, to(B))],
        ...[read(B), read(B, 'svc.history'), references(B, to(A))],
      ],
      notifications: [A, B].flatMap((one) => [news(one), news(one, 'svc.history')]),
    }),
    about({
      it: 'are passed by a related model too many',
      limits: { maxSyncModels: 3 },
      body: { references: ['feeds'], recursive: true, related: ['svc.history'] },
      backend: [...[read(A), read(A, 'svc.history'), references(A, to(B))], read(B)],
      ack: failed('response_too_large', 'the request would fetch more than 3 object models'),
    }),
    about({
      it: 'allow exactly as many bytes of models as the setting says',
      limits: { maxSyncBytes: 2 * Buffer.byteLength(JSON.stringify(pump({ name: 'ü' }))) },
      body: { hierarchical: true },
      backend: [
        { call: at(A), reply: [200, pump({ name: 'ü' })] },
        references(A, to(B)),
        { call: at(B), reply: [200, pump({ name: 'ü', objectId: B })] },
      ],
      notifications: [
        news(A, 'svc.device', pump({ name: 'ü' })),
        news(B, 'svc.device', pump({ name: 'ü', objectId: B })),
      ],
    }),
    about({
      it: 'are passed by one byte more: none is sent',
      limits: { maxSyncBytes: 2 * Buffer.byteLength(JSON.stringify(pump({ name: 'ü' }))) - 1 },
      body: { hierarchical: true },
      backend: [
        { call: at(A), reply: [200, pump({ name: 'ü' })] },
        references(A, to(B)),
        { call: at(B), reply: [200, pump({ name: 'ü', objectId: B })] },
      ],
      ack: failed(
        'response_too_large',
        `the request would fetch more than ${2 * Buffer.byteLength(JSON.stringify(pump({ name: 'ü' }))) - 1} bytes of object models`,
      ),
    }),
  ],

  delivery: [
    about({
      it: 'takes a notification that just fits the hub',
      backend: [{ call: at(A), reply: [200, filled(65_536)] }],
      notifications: [news(A, 'svc.device', filled(65_536))],
    }),
    about({
      it: 'fails when a notification is one byte larger than the hub carries, names it, and sends the others',
      body: { related: ['svc.history', 'svc.location'] },
      backend: [
        read(A),
        { call: at(A, 'svc.history'), reply: [200, filled(65_537, 'svc.history')] },
        read(A, 'svc.location'),
      ],
      notifications: [
        news(A),
        news(A, 'svc.history', filled(65_537, 'svc.history')), // tried, and dropped for its size
        news(A, 'svc.location'),
      ],
      ack: failed(
        'response_too_large',
        `larger than the hub's 65536 bytes, and therefore not sent: svc.history of ${A}`,
      ),
      log: {
        level: 'warn',
        code: 'response_too_large',
        replies: 3,
        dropped: [{ kind: 'notification', device: 'd1', reason: 'too_large' }],
      },
    }),
    about({
      it: 'names ten of those that were too large, and says how many more there are',
      body: { hierarchical: true },
      backend: [
        read(A),
        references(A, ...children(12).map((one) => to(one))),
        ...children(12).map(
          (one): ScriptedCall => ({
            call: at(one),
            reply: [200, pump({ objectId: one, name: 'x'.repeat(65_536) })],
          }),
        ),
      ],
      notifications: [
        news(A),
        ...children(12).map((one) => news(one, 'svc.device', pump({ objectId: one, name: 'x'.repeat(65_536) }))),
      ],
      ack: failed(
        'response_too_large',
        `larger than the hub's 65536 bytes, and therefore not sent: ${children(10)
          .map((one) => `svc.device of ${one}`)
          .join('; ')}; … and 2 more`,
      ),
    }),
    about({
      it: 'fails with what could not be delivered when one notification is too large and another finds no place',
      body: { related: ['svc.history', 'svc.location'] },
      backend: [{ call: at(A), reply: [200, filled(65_537)] }, read(A, 'svc.history'), read(A, 'svc.location')],
      delivery: [{ dropped: 'too_large' }, { dropped: 'queue_full' }],
      notifications: [news(A, 'svc.device', filled(65_537)), news(A, 'svc.history')],
      ack: failed('delivery_failed', 'a notification could not be handed to the hub'),
    }),
    about({
      it: 'fails at a notification that cannot be handed to the hub and sends none after it, but the acknowledgement',
      body: { related: ['svc.history', 'svc.location'] },
      backend: [read(A), read(A, 'svc.history'), read(A, 'svc.location')],
      delivery: ['delivered', { dropped: 'queue_full' }],
      notifications: [news(A), news(A, 'svc.history')],
      ack: failed('delivery_failed', 'a notification could not be handed to the hub'),
      log: {
        level: 'warn',
        code: 'delivery_failed',
        replies: 2,
        dropped: [{ kind: 'notification', device: 'd1', reason: 'queue_full' }],
      },
    }),
    about({
      it: 'is a failure to who wants to hear of failures when a notification cannot be handed to the hub',
      properties: { ...properties, ack: 'negative' },
      backend: [read(A)],
      delivery: [{ dropped: 'unknown_device' }],
      notifications: [news(A)],
      ack: failed('delivery_failed', 'a notification could not be handed to the hub'),
    }),
    about({
      it: 'is no success to who wants to hear of successes when a notification cannot be handed to the hub',
      properties: { ...properties, ack: 'positive' },
      backend: [read(A)],
      delivery: [{ dropped: 'unknown_device' }],
      notifications: [news(A)],
      ack: undefined,
    }),
  ],
});
