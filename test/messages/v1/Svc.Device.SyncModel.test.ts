import { hostileModels, modelFault, shown } from '../../support/hostileNames.ts';
import type { ScriptedCall } from '../../support/scriptedBackend.ts';
import { otherPumpId as first, problem, pump, pumpId as requested } from '../../support/world.ts';
import { messageTable } from '../table/messageTable.ts';
import { forbidden, incident, type Row } from '../table/row.ts';

const second = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc';
const third = 'dddddddd-dddd-4ddd-8ddd-dddddddddddd';

const properties = { objectId: requested, model: 'svc.device' };
const ackProperties = properties;
const ok = { success: true, code: 'ok', details: '' };
const failed = (code: string, details: unknown) => ({ success: false, code, details });
const notFound = failed(
  'http_response_error',
  'information model: read object model failed with HTTP 404: Not found: as it is',
);
const notAuthorized = (operation: string) => failed('not_authorized', forbidden(`information model: ${operation}`));

const at = (objectId = requested, model = 'svc.device') => `GET /objects/${objectId}/models/${model}`;
const read = (objectId = requested, model = 'svc.device'): ScriptedCall => ({
  call: at(objectId, model),
  reply: [200, pump({ objectId, model })],
});
const missing = (objectId = requested, model?: string): ScriptedCall => ({
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

const news = (objectId = requested, model = 'svc.device', body: unknown = pump({ objectId, model })) => ({
  properties: { eventType: 'Svc.InformationModel.ObjectModelUpdated', objectId, model, target: 'edge' },
  body,
});

/** Only the requested model is read, and sent. */
const alone = { backend: [read()], notifications: [news()] };
const tooMany = (what: string) => failed('response_too_large', `the request would fetch more than ${what}`);

const about = (it: string, row: Partial<Row>): Row => ({ it, properties, body: {}, ackProperties, ack: ok, ...row });
const rejects = (it: string, details: string, given: Partial<Row>): Row =>
  about(it, { ack: failed('platform_event_validation_error', details), ...given });

const child = (n: number) => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`;
const children = (count: number) => Array.from({ length: count }, (_, n) => child(n));

/** A stored model whose notification takes this many bytes, as the hub counts them (C3). */
function filled(bytes: number, model = 'svc.device') {
  const { properties, body } = news(requested, model, pump({ model, name: '' }));
  const names = { 'svc-messagetype': 'platformEvent', id: 'c-1', ...properties };
  const system = ['/devices/d1/messages/devicebound', 'm'.repeat(36), 'c-1', 'application/json', 'utf-8'];
  const taken = [...Object.entries(names).flat(), ...system, JSON.stringify(body)].join('');
  return pump({ model, name: 'x'.repeat(bytes - Buffer.byteLength(taken)) });
}

const strangers = (count: number) => children(count).map((one) => to(one, 'other'));
const wordy = to(second, 'other', { words: 'ü'.repeat(500) });
const twoReferences = { body: { references: ['feeds'] }, backend: [read(), references(requested, wordy, wordy)] };
const named = pump({ name: 'ü' });
const twoModels = {
  body: { hierarchical: true },
  backend: [
    { call: at(), reply: [200, named] },
    references(requested, to(first)),
    { call: at(first), reply: [200, { ...named, objectId: first }] },
  ],
} as const;
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

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

const sample = {
  ...{ properties, body: {}, backend: [read()], notifications: [news()], ack: ok, ackProperties },
  ...{ failureProperties: ackProperties, failed },
};

messageTable('V1', 'Svc.Device.SyncModel', sample, {
  'the requested model': [
    about(
      'is always fetched and sent as ObjectModelUpdated to the target of the request, and without options no other is {S17.1 S17.8 S17.12 S17.15 S17.16}',
      alone,
    ),
    about('is sent as the information model’s text: 64-bit integers, 1.0, 1e400, order of keys, white space {S17.1}', {
      backend: [
        {
          call: at(),
          reply: [
            200,
            `{ "2":12345678901234567890,"1":1.0, "objectId":"${requested}","model":"svc.device","type":"pump@1.0.0","properties":{"x":1e400,"ü":"\\u00fc"},"variables":{ },"version":1.0\n}`,
          ],
        },
      ],
      notifications: [
        news(
          requested,
          'svc.device',
          `{ "2":12345678901234567890,"1":1.0, "objectId":"${requested}","model":"svc.device","type":"pump@1.0.0","properties":{"x":1e400,"ü":"\\u00fc"},"variables":{ },"version":1.0\n}`,
        ),
      ],
    }),
    ...(
      [
        ['the properties', properties, {}],
        ['the body', {}, properties],
        ['both', properties, properties],
        ['one each', { objectId: requested }, { model: 'svc.device' }],
        ['the other one each', { model: 'svc.device' }, { objectId: requested }],
      ] as const
    ).map(([where, inProperties, inBody]) =>
      about(`is the one that is named in ${where} {S17.4}`, {
        properties: inProperties,
        body: inBody,
        ...alone,
      }),
    ),
    about('may be any model, case-sensitively {S17.4}', {
      properties: { objectId: requested, model: 'Svc.History' },
      backend: [read(requested, 'Svc.History')],
      notifications: [news(requested, 'Svc.History')],
      ackProperties: { objectId: requested, model: 'Svc.History' },
    }),
    about('is sent also without a requested acknowledgement and without a target {S17.15}', {
      properties: { ...properties, ack: 'none', target: undefined },
      backend: [read()],
      notifications: [{ ...news(), properties: { ...news().properties, target: undefined } }],
      ack: undefined,
    }),
    about('must exist {S17.2 S17.16}', { backend: [missing()], ack: notFound }),
    about('must exist with any options {S17.2}', {
      body: { hierarchical: true, related: ['svc.history'] },
      backend: [missing()],
      ack: notFound,
    }),
  ],

  children: [
    about(
      'are fetched over all references when hierarchical is true, in order, not children’s children {S17.3 S17.9}',
      {
        body: { hierarchical: true },
        backend: [
          read(),
          references(requested, to(second, 'a'), to(first, 'b', { isContained: false })),
          read(second),
          read(first),
        ],
        notifications: [news(), news(second), news(first)],
      },
    ),
    about('are fetched over references with isContained, or isContainment, when contained is true {S6.2 S17.10}', {
      body: { contained: true },
      backend: [
        read(),
        references(
          requested,
          to(first, 'a', { isContained: true }),
          to(child(1), 'b', { isContained: false }),
          to(child(2), 'c', { isContained: 'true' }),
          to(child(3), 'd', { isContained: 1, isContainment: null }),
          to(child(4), 'e'),
          to(second, 'f', { isContainment: true, isContained: false }),
        ),
        read(first),
        read(second),
      ],
      notifications: [news(), news(first), news(second)],
    }),
    about('are fetched over references with the given names, case-sensitively {S17.11}', {
      body: { references: ['feeds', 'drains'] },
      backend: [
        read(),
        references(requested, to(second, 'drains'), to(child(1), 'Feeds'), to(child(2), 'feeds '), to(first, 'feeds')),
        read(second),
        read(first),
      ],
      notifications: [news(), news(second), news(first)],
    }),
    about('are empty when no reference has a given name, which may have any content', {
      body: { references: ['../B', 'a/b', '%2f', ''] },
      backend: [read(), references(requested, to(first, 'feeds'))],
      notifications: [news()],
    }),
    about('are fetched within the requested model id only {S17.8}', {
      properties: { objectId: requested, model: 'svc.history' },
      body: { hierarchical: true },
      backend: [
        read(requested, 'svc.history'),
        {
          call: `${at(requested, 'svc.history')}/references/out`,
          reply: [
            200,
            {
              data: [
                to(first),
                to(second, 'feeds', {}, 'svc.history'),
                to(third, 'feeds', {}, 'Svc.History'),
                to(requested, 'of'),
              ],
            },
          ],
        },
        read(second, 'svc.history'),
      ],
      notifications: [news(requested, 'svc.history'), news(second, 'svc.history')],
      ackProperties: { objectId: requested, model: 'svc.history' },
    }),
    about('are fetched for every child again when recursive accompanies references, level by level {S17.13}', {
      body: { references: ['feeds'], recursive: true },
      backend: [
        read(),
        references(requested, to(first), to(second)),
        ...[read(first), read(second)],
        ...[references(first, to(child(1), 'drains'), to(third)), references(second)],
        read(third),
        references(third),
      ],
      notifications: [news(), news(first), news(second), news(third)],
    }),
    about('are empty when recursive comes alone {S17.12}', {
      body: { recursive: true },
      ...alone,
    }),
    about('are visited once when they refer to each other in a circle, or to themselves {S17.13}', {
      limits: { maxSyncModels: 3 },
      body: { references: ['feeds'], recursive: true },
      backend: [
        read(),
        references(requested, to(requested), to(first)),
        read(first),
        references(first, to(second), to(first)),
        read(second),
        references(second, to(requested), to(first), to(second)),
      ],
      notifications: [news(), news(first), news(second)],
    }),
    about('are the same when their objectIds differ only in letter case', {
      body: { references: ['feeds'], recursive: true },
      backend: [
        read(),
        references(requested, to(requested.toUpperCase()), to(first), to(first.toUpperCase())),
        read(first),
        references(first),
      ],
      notifications: [news(), news(first)],
    }),
    about('are visited once when two models or two references lead to the same one', {
      body: { references: ['feeds', 'drains'], recursive: true },
      backend: [
        read(),
        references(requested, to(first), to(second), to(first, 'drains')),
        ...[read(first), read(second)],
        ...[references(first, to(third)), references(second, to(third), to(first))],
        read(third),
        references(third),
      ],
      notifications: [news(), news(first), news(second), news(third)],
    }),
    about('that do not exist are left out, with a remark in the log, and their children are not fetched', {
      body: { references: ['feeds'], recursive: true },
      backend: [read(), references(requested, to(first), to(second)), missing(first), read(second), references(second)],
      notifications: [news(), news(second)],
      log: { code: 'ok', remarks: [`svc.device of ${first} is not there`] },
    }),
    about('are empty when the model was deleted before its references were read', {
      body: { hierarchical: true },
      backend: [read(), { call: `${at()}/references/out`, reply: problem(404, 'Not found') }],
      notifications: [news()],
    }),
  ],

  'related models': [
    about('are fetched for the requested model on request {S17.14}', {
      body: { related: ['svc.history', 'Svc.Gerät'] },
      backend: [
        read(),
        read(requested, 'svc.history'),
        { call: at(requested, 'Svc.Ger%C3%A4t'), reply: [200, pump({ model: 'Svc.Gerät' })] },
      ],
      notifications: [news(), news(requested, 'svc.history'), news(requested, 'Svc.Gerät')],
    }),
    about('are fetched for every child as well, each sent after the model it belongs to {S17.14}', {
      body: { hierarchical: true, related: ['svc.history', 'svc.location'] },
      backend: [
        read(),
        ...[read(requested, 'svc.history'), read(requested, 'svc.location')],
        references(requested, to(first), to(second)),
        ...[read(first), read(second)],
        ...[first, second].flatMap((one) => [read(one, 'svc.history'), read(one, 'svc.location')]),
      ],
      notifications: [requested, first, second].flatMap((one) => [
        news(one),
        news(one, 'svc.history'),
        news(one, 'svc.location'),
      ]),
    }),
    about('are fetched for children of every level', {
      body: { references: ['feeds'], recursive: true, related: ['svc.history'] },
      backend: [
        ...[read(), read(requested, 'svc.history'), references(requested, to(first))],
        ...[read(first), read(first, 'svc.history'), references(first, to(second))],
        ...[read(second), read(second, 'svc.history'), references(second)],
      ],
      notifications: [requested, first, second].flatMap((one) => [news(one), news(one, 'svc.history')]),
    }),
    about('are sent once, even if they are requested twice or are the requested model itself', {
      body: { related: ['svc.device', 'svc.history', 'svc.history'] },
      backend: [read(), read(requested, 'svc.history')],
      notifications: [news(), news(requested, 'svc.history')],
    }),
    about('that do not exist are left out, with a remark in the log', {
      body: { related: ['svc.history', 'svc.location'] },
      backend: [read(), missing(requested, 'svc.history'), read(requested, 'svc.location')],
      notifications: [news(), news(requested, 'svc.location')],
      log: { code: 'ok', remarks: [`svc.history of ${requested} is not there`] },
    }),
  ],

  options: [
    ...nothings.map(([name, value]) =>
      about(`have no effect when they are false, null or empty: ${name} ${JSON.stringify(value)}`, {
        body: { [name]: value },
        ...alone,
      }),
    ),
    ...(['hierarchical', 'contained'] as const).map((one) =>
      about(`may all be present as long as only one has an effect: ${one} {S17.7}`, {
        body: {
          ...{ hierarchical: false, contained: null, recursive: false, references: [null], related: [] },
          [one]: true,
        },
        backend: [read(), references(requested, to(first, 'feeds', { isContained: true })), read(first)],
        notifications: [news(), news(first)],
      }),
    ),
    about('may all be present as long as only references and recursive have an effect; null among names is ignored', {
      body: {
        ...{ hierarchical: null, contained: false, recursive: true, references: [null, 'feeds'] },
        related: [null],
      },
      backend: [read(), references(requested, to(first), to(second, 'null')), read(first), references(first)],
      notifications: [news(), news(first)],
    }),
    ...contradictions.map((names) => {
      const given = Object.fromEntries(names.map((name) => [name, name === 'references' ? ['feeds'] : true]));
      return rejects(
        `are mutually exclusive: ${names.join(', ')} {S17.5 S17.7}`,
        `body.${names.join(' and body.')} are mutually exclusive`,
        { body: given },
      );
    }),
    ...['hierarchical', 'contained', 'recursive'].flatMap((name) =>
      ['true', 1, [true], {}].map((value) =>
        rejects(
          `must be boolean: ${name} ${JSON.stringify(value)} {S17.5 S17.7}`,
          `body.${name} must be true or false`,
          {
            body: { [name]: value },
          },
        ),
      ),
    ),
    ...['references', 'related'].flatMap((name) =>
      ['feeds', true, { 0: 'feeds' }].map((value) =>
        rejects(`must be a list: ${name} ${JSON.stringify(value)} {S17.6}`, `body.${name} must be an array of texts`, {
          body: { [name]: value },
        }),
      ),
    ),
    rejects('must list texts {S17.6}', 'body.references[1] must be text; body.references[2] must be text', {
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
      'are all checked at once {S1.5}',
      'body.hierarchical must be true or false; body.related must be an array of texts',
      { body: { hierarchical: 'yes', related: 'svc.history' } },
    ),
    rejects(
      'are compared with each other as far as they have their shape',
      'body.hierarchical must be true or false; body.contained and body.references are mutually exclusive',
      { body: { hierarchical: 'yes', contained: true, references: ['feeds'] } },
    ),
    rejects(
      'are refused together with a subject that contradicts or is missing',
      'body.related[0] must be a model definition identifier; property objectId and body.objectId must be the same; model must be given, as property or in the body; body.hierarchical and body.contained are mutually exclusive',
      {
        properties: { objectId: requested },
        body: { objectId: first, hierarchical: true, contained: true, related: [7] },
        ackProperties: { objectId: requested },
      },
    ),
    rejects(
      'are refused without the remark that an objectId is missing which has no shape',
      'body.objectId must be a GUID; model must be given, as property or in the body',
      { properties: {}, body: { objectId: 7 }, ackProperties: {} },
    ),
    ...['objectId', 'model', 'hierarchical', 'contained', 'recursive', 'references', 'related'].map((key) =>
      rejects(`must not occur twice: ${key}`, `body.${key} occurs twice`, { body: `{"${key}":null,"${key}":null}` }),
    ),
  ],

  'object and model': [
    rejects('refuses a request that names no object {S17.4}', 'objectId must be given, as property or in the body', {
      properties: { model: 'svc.device' },
      ackProperties: { model: 'svc.device' },
    }),
    rejects(
      'refuses a request without a model: no default {S17.4}',
      'model must be given, as property or in the body',
      { properties: { objectId: requested }, ackProperties: { objectId: requested } },
    ),
    rejects('refuses a request that names neither', 'objectId and model must be given, as property or in the body', {
      properties: {},
      ackProperties: {},
    }),
    about('treats objectIds that differ in letter case as equal, and repeats that of the properties', {
      properties: { ...properties, objectId: requested.toUpperCase() },
      body: { objectId: requested },
      backend: [{ call: at(requested.toUpperCase()), reply: [200, pump()] }],
      notifications: [news(requested.toUpperCase(), 'svc.device', pump())],
      ackProperties: { ...properties, objectId: requested.toUpperCase() },
    }),
  ],

  'failed before the first notification': [
    about('is not authorized when a child must not be read', {
      body: { hierarchical: true },
      backend: [
        read(),
        references(requested, to(first), to(second)),
        ...[read(first), { call: at(second), reply: problem(403, 'Forbidden') } as const],
      ],
      ack: notAuthorized('read object model'),
    }),
    about('is not authorized when a related model must not be read', {
      body: { related: ['svc.history'] },
      backend: [read(), { call: at(requested, 'svc.history'), reply: problem(403, 'Forbidden') }],
      ack: notAuthorized('read object model'),
    }),
    about('is not authorized when the references must not be read', {
      body: { hierarchical: true },
      backend: [read(), { call: `${at()}/references/out`, reply: problem(403, 'Forbidden') }],
      ack: notAuthorized('read references'),
    }),
    about('begins no further read after one has failed', {
      body: { hierarchical: true },
      backend: [
        read(),
        references(requested, ...children(40).map((one) => to(one))),
        { call: at(child(0)), reply: problem(403, 'Forbidden') },
        ...[1, 2, 3, 4, 5, 6, 7].map((n) => read(child(n))),
      ],
      ack: notAuthorized('read object model'),
    }),
    about('ends with an incident when a reference has a target that is not a GUID', {
      body: { hierarchical: true },
      backend: [read(), { call: `${at()}/references/out`, reply: [200, `\n${JSON.stringify({ data: [to('..')] })}`] }],
      ack: failed('internal_platform_error', incident),
    }),
    about('has an answer of the information model that is too large', {
      backend: [{ call: at(), reply: [200, ' '.repeat(5 * 1024 * 1024 + 1)] }],
      ack: failed('response_too_large', 'information model: read object model was answered with over 5242880 bytes'),
    }),
  ],

  'limits of one request': [
    about('are 200 models by default', {
      body: { hierarchical: true },
      backend: [
        read(),
        references(requested, ...children(199).map((one) => to(one))),
        ...children(199).map((one) => read(one)),
      ],
      notifications: [requested, ...children(199)].map((one) => news(one)),
    }),
    about('are exceeded by the 201st model: no more are read and none is sent', {
      body: { hierarchical: true },
      backend: [read(), references(requested, ...children(200).map((one) => to(one)))],
      ack: tooMany('200 object models, with those that are not there'),
    }),
    about('end the reading of references as soon as these lead to too many models', {
      limits: { maxSyncModels: 2, maxReferences: 4 },
      body: { hierarchical: true },
      backend: [read(), references(requested, ...children(5).map((one) => to(one)))],
      ack: tooMany('2 object models, with those that are not there'),
    }),
    about('count each model once, and related ones as well', {
      limits: { maxSyncModels: 4 },
      body: { references: ['feeds'], recursive: true, related: ['svc.history'] },
      backend: [
        ...[read(), read(requested, 'svc.history'), references(requested, to(first))],
        ...[read(first), read(first, 'svc.history'), references(first, to(requested))],
      ],
      notifications: [requested, first].flatMap((one) => [news(one), news(one, 'svc.history')]),
    }),
    about('are exceeded by one related model too many', {
      limits: { maxSyncModels: 3 },
      body: { references: ['feeds'], recursive: true, related: ['svc.history'] },
      backend: [...[read(), read(requested, 'svc.history'), references(requested, to(first))], read(first)],
      ack: tooMany('3 object models, with those that are not there'),
    }),
    about('allow exactly the bytes of models of the setting', {
      ...twoModels,
      limits: { maxSyncBytes: 2 * bytesOf(named) },
      notifications: [news(requested, 'svc.device', named), news(first, 'svc.device', { ...named, objectId: first })],
    }),
    about('are exceeded by one byte more: none is sent', {
      ...twoModels,
      limits: { maxSyncBytes: 2 * bytesOf(named) - 1 },
      ack: tooMany(`${2 * bytesOf(named) - 1} bytes of object models`),
    }),
    about('are 20,000 references by default, followed or not', {
      body: { references: ['feeds'] },
      backend: [read(), references(requested, ...strangers(19_999), to(first)), read(first)],
      notifications: [news(), news(first)],
    }),
    about('are exceeded by the 20,001st reference: none is sent', {
      body: { references: ['feeds'] },
      backend: [read(), references(requested, to(first), ...strangers(20_000))],
      ack: tooMany('20000 references'),
    }),
    about('count the references of all models together', {
      limits: { maxReferences: 3 },
      body: { references: ['feeds'], recursive: true },
      backend: [
        ...[read(), references(requested, to(first), ...strangers(1))],
        ...[read(first), references(first, ...strangers(1))],
      ],
      notifications: [news(), news(first)],
    }),
    about('are exceeded by a reference of a child', {
      limits: { maxReferences: 3 },
      body: { references: ['feeds'], recursive: true },
      backend: [
        ...[read(), references(requested, to(first), ...strangers(1))],
        ...[read(first), references(first, ...strangers(2))],
      ],
      ack: tooMany('3 references'),
    }),
    about('allow as many bytes of references as of models', {
      ...twoReferences,
      limits: { maxSyncBytes: 2 * bytesOf(wordy) },
      notifications: [news()],
    }),
    about('are exceeded by one byte more of references: none is sent', {
      ...twoReferences,
      limits: { maxSyncBytes: 2 * bytesOf(wordy) - 1 },
      ack: tooMany(`${2 * bytesOf(wordy) - 1} bytes of references`),
    }),
  ],

  delivery: [
    about('sends a notification of exactly the hub’s limit', {
      backend: [{ call: at(), reply: [200, filled(65_536)] }],
      notifications: [news(requested, 'svc.device', filled(65_536))],
    }),
    about('fails when a notification is one byte over the hub’s limit, names it, and sends the others {S17.15}', {
      body: { related: ['svc.history', 'svc.location'] },
      backend: [
        read(),
        { call: at(requested, 'svc.history'), reply: [200, filled(65_537, 'svc.history')] },
        read(requested, 'svc.location'),
      ],
      notifications: [
        news(),
        news(requested, 'svc.history', filled(65_537, 'svc.history')), // tried, and dropped for its size
        news(requested, 'svc.location'),
      ],
      ack: failed(
        'response_too_large',
        `larger than the hub's 65536 bytes, and therefore not sent: svc.history of ${requested}`,
      ),
      log: {
        level: 'warn',
        code: 'response_too_large',
        replies: 3,
        dropped: [{ kind: 'notification', device: 'd1', reason: 'too_large' }],
      },
    }),
    about('names ten of those that were too large, and counts the rest', {
      body: { hierarchical: true },
      backend: [
        read(),
        references(requested, ...children(12).map((one) => to(one))),
        ...children(12).map(
          (one): ScriptedCall => ({ call: at(one), reply: [200, pump({ objectId: one, name: 'x'.repeat(65_536) })] }),
        ),
      ],
      notifications: [
        news(),
        ...children(12).map((one) => news(one, 'svc.device', pump({ objectId: one, name: 'x'.repeat(65_536) }))),
      ],
      ack: failed(
        'response_too_large',
        `larger than the hub's 65536 bytes, and therefore not sent: ${children(10)
          .map((one) => `svc.device of ${one}`)
          .join('; ')}; … and 2 more`,
      ),
    }),
    about('fails with the undelivered notifications when one is too large and another finds no room', {
      body: { related: ['svc.history', 'svc.location'] },
      backend: [
        { call: at(), reply: [200, filled(65_537)] },
        read(requested, 'svc.history'),
        read(requested, 'svc.location'),
      ],
      delivery: [{ dropped: 'too_large' }, { dropped: 'queue_full' }],
      notifications: [news(requested, 'svc.device', filled(65_537)), news(requested, 'svc.history')],
      ack: failed('delivery_failed', 'a notification could not be handed to the hub'),
    }),
    about('fails at a notification that the hub does not accept, and sends only the acknowledgement after {S17.15}', {
      body: { related: ['svc.history', 'svc.location'] },
      backend: [read(), read(requested, 'svc.history'), read(requested, 'svc.location')],
      delivery: ['delivered', { dropped: 'queue_full' }],
      notifications: [news(), news(requested, 'svc.history')],
      ack: failed('delivery_failed', 'a notification could not be handed to the hub'),
      log: {
        level: 'warn',
        code: 'delivery_failed',
        replies: 2,
        dropped: [{ kind: 'notification', device: 'd1', reason: 'queue_full' }],
      },
    }),
    about('sends no success acknowledgement when the hub does not accept a notification', {
      ...{ properties: { ...properties, ack: 'positive' }, backend: [read()] },
      ...{ delivery: [{ dropped: 'unknown_device' }], notifications: [news()], ack: undefined },
    }),
  ],
});
