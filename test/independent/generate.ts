import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { SeenCall } from './follow.ts';
import type { Sent } from './model/steps.ts';
import { systemId } from './model/values.ts';

const services: Readonly<Record<string, string>> = {
  ...{ objects: 'informationModel', object: 'informationModel', query: 'informationModel' },
  modelDefinitions: 'typeRegistry',
  devices: 'principalManager',
};
const traceparent = /^00-([\da-f]{32})-[\da-f]{16}-0[01]$/;

/** §4: what every call of one message carries. */
export function checkHeaders({ properties }: Sent, deviceId: string, calls: readonly SeenCall[]): void {
  const id = properties['msgType'] === 'action' ? properties['correlationId'] : properties['id'];
  const traces = new Set<string | undefined>();
  for (const call of calls) {
    const { headers, method, segments, body } = call;
    const isMutation = method !== 'GET' && segments[0] !== 'query';
    traces.add(traceparent.exec(headers['traceparent'] ?? '')?.[1]);
    hold(call, 'backend', call.backend === services[segments[0] ?? '']);
    hold(call, 'x-svc-device-id', decodeURIComponent(headers['x-svc-device-id'] ?? '') === deviceId);
    hold(call, 'x-svc-operation', headers['x-svc-operation'] === undefined);
    hold(call, 'idempotency-key', (headers['idempotency-key'] !== undefined) === isMutation);
    hold(call, 'content-type', body === '' || /^application\/json\b/.test(headers['content-type'] ?? ''));
    const given = headers['x-correlation-id'] ?? '';
    const isShort = id !== undefined && systemId(String(id)) !== undefined && String(id).length <= 32;
    hold(call, 'x-correlation-id', given !== '' && (!isShort || decodeURIComponent(given) === String(id)));
  }
  const keys = calls.map(({ headers }) => headers['idempotency-key']).filter((key) => key !== undefined);
  if (new Set(keys).size !== keys.length) throw new Error('an idempotency key is used twice');
  if (traces.size > 1 || traces.has(undefined)) throw new Error('the calls of a message are not in one trace');
}

function hold({ method, path, headers }: SeenCall, what: string, holds: boolean): void {
  if (!holds) throw new Error(`${what} of ${method} ${path} is wrong: ${JSON.stringify(headers)}`);
}

/** Bodies for every message, most of them good. Each device has objects and machines of its own, and knows its neighbour's. */

const hex = (place: number) => place.toString(16).padStart(8, '0');
const objectIdsOf = (place: number) => [1, 2, 3].map((n) => `${hex(place)}-0000-4000-8000-00000000000${n}`);
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const levels = (count: number) => `{"a":${'['.repeat(count - 1)}${']'.repeat(count - 1)}}`;

/** No JSON, or JSON that says nothing sensible. */
const odd: readonly Buffer[] = [
  ...['', ' ', 'no json', '{', '{"a":1,}', "{'a':1}", '\ufeff{}', '{"a":"\t"}', '{}{}', levels(129)].map((text) =>
    Buffer.from(text),
  ),
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  ...['{}', '[]', '5', '"text"', 'null', 'true', levels(128), '{"":1e999}'].map((text) => Buffer.from(text)),
];
/** Keys that are written twice. */
const twice: readonly Buffer[] = [
  '{"type":"sensor","type":"sensor","model":"svc.device"}',
  '{"model":"svc.device","\\u006dodel":"svc.device","type":"sensor"}',
  '{"identity":"edge","identity":"mine"}',
  '{"version":1,"version":2,"type":"sensor","properties":{}}',
  '{"objectId":null,"objectId":null,"type":"sensor","model":"svc.device"}',
].map((text) => Buffer.from(text));

function bodies(place: number) {
  const own = objectIdsOf(place);
  const objectIds = [
    ...own,
    ...own.slice(0, 2),
    ...own.slice(0, 1),
    ...objectIdsOf(place + 1).slice(0, 1),
    '0b1ec700-0000-4000-8000-000000000404',
  ];
  const objectId = fc.constantFrom(...objectIds);
  const text = fc.constantFrom('Halle 1', 'ü', '', 'x'.repeat(100));
  const serial = fc.constantFrom(`S-${place}-1`, `S-${place}-2`, `S-${place}-1`, 'shared');

  const machine = fc.oneof(
    fc.record({
      type: fc.constantFrom('pump', 'pump@1', 'pump@2.0.0', 'booster-pump', 'gateway', 'boiler'),
      properties: fc.record({ serial, location: text }, { requiredKeys: ['serial'] }),
    }),
    fc.record({
      type: fc.constantFrom('sensor', 'sensor@1', 'sensor@1.0.0'),
      properties: fc.record({ quantity: text, unit: text }, { requiredKeys: ['quantity'] }),
    }),
    fc.record({
      type: fc.constantFrom('nothing', 'sensor@9', 'Pump', 'pump@', 'a/b', '', 5),
      properties: fc.constantFrom({}, [], { serial: 'x' }),
    }),
    fc.record({
      type: fc.constant('pump'),
      properties: fc.constantFrom({}, 'text', { serial: { value: `S-${place}-1` } }),
    }),
  );
  const model = fc.record(
    {
      name: text,
      objectId: fc.oneof(
        { weight: 9, arbitrary: objectId },
        { weight: 1, arbitrary: fc.constantFrom(null, 'no-guid', 5, '') },
      ),
      model: fc.oneof(
        { weight: 12, arbitrary: fc.constant('svc.device') },
        { weight: 1, arbitrary: fc.constantFrom('svc.configuration', 'a/b', 5) },
      ),
      variables: fc.constantFrom({}, { pressure: 1.5 }),
      version: fc.constantFrom(1, 7),
    },
    { requiredKeys: ['model'] },
  );
  const create = fc.tuple(model, machine).map(([one, other]) => json({ ...one, ...other }));
  const created = fc
    .record(
      {
        machine,
        name: text,
        model: fc.constantFrom('svc.device', 'svc.device', 'svc.device', 'svc.configuration', 'other'),
        objectId: fc.constantFrom(...own, null, 'no-guid'),
        parent: fc.oneof(
          fc.record({ objectId, reference: fc.constantFrom('contains', 'feeds', 'admires', 'contains') }),
          fc.constantFrom(
            null,
            {},
            'parent',
            { objectId: 'x', reference: 'contains' },
            { objectId: own[0], reference: '' },
          ),
        ),
      },
      { requiredKeys: ['machine'] },
    )
    .map(({ machine: one, ...more }) => json({ ...more, ...one }));
  const version = fc.constantFrom(1, 2, 3, 4, 5, 6, 1, 2, 0, -1, 1.5, '1', null, 150, undefined);
  const update = fc.tuple(machine, version).map(([one, number]) => json({ ...one, version: number }));
  const reference = fc.record({
    name: fc.constantFrom('parent', 'feeds', 'admires'),
    to: fc.record({ objectId, model: fc.constantFrom('svc.device', 'svc.configuration') }),
    attributes: fc.constantFrom({}, { isContained: true }, { isContained: false }, { isParent: true }),
  });
  const definition = fc
    .record({ typeId: fc.constantFrom('own', 'other'), version: fc.constantFrom('1.0.0', '1.1.0', '2.0.0', 'one') })
    .map(({ typeId, version: number }) =>
      json({ typeId: `${typeId}-${place}`, version: number, properties: { a: { dataType: 'string' } } }),
    );
  const identity = fc.record(
    {
      identity: fc.oneof(
        fc.constantFrom('edge', 'mine', 'edge', 'mine'),
        fc.constantFrom('', 5, null, 'a/b', '..', 'ü'),
      ),
      publicKey: fc.constantFrom('MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='),
    },
    { requiredKeys: [] },
  );
  const flag = fc.constantFrom(true, false, null, true, 'yes');
  const names = (...some: string[]) => fc.constantFrom([], [null], some, some.slice(0, 1), some, 'text', [5]);
  const options = fc.oneof(
    fc.constant({}),
    fc.record(
      { references: names('contains', 'feeds'), recursive: flag, related: names('svc.configuration', 'other') },
      { requiredKeys: ['references'] },
    ),
    fc.record({ contained: flag, related: names('svc.configuration', 'other') }, { requiredKeys: ['contained'] }),
    fc.record({ hierarchical: flag, recursive: flag, contained: flag }, { requiredKeys: ['hierarchical'] }),
  );
  const sync = fc
    .tuple(options, fc.option(objectId))
    .map(([one, id]) => json(id === null ? one : { ...one, objectId: id }));

  const good: Readonly<Record<string, fc.Arbitrary<Buffer>>> = {
    ...{ 'model.create': create, 'model.update': update, 'type.create': definition },
    'reference.create': fc.array(reference, { minLength: 1, maxLength: 2 }).map(json),
    ...{ 'identity.update': identity.map(json), 'identity.delete': identity.map(json), 'Svc.Device.Created': created },
    'Svc.Device.Updated': update,
    'Svc.Device.SyncModel': sync,
  };
  const of = (name: string): fc.Arbitrary<Buffer> =>
    fc.oneof(
      { weight: 20, arbitrary: good[name] ?? fc.constant(json({})) },
      { weight: 1, arbitrary: fc.constantFrom(...odd) },
      { weight: 1, arbitrary: fc.constantFrom(...twice) },
    );
  return { of, objectIds };
}

/** Messages that a device could send: most of them reasonable, with something odd in every third. */

type Properties = Sent['properties'];

const actions = [
  ...['model.create', 'model.update', 'type.create', 'reference.create', 'identity.update', 'identity.delete'],
];
const events = ['Svc.Device.Created', 'Svc.Device.Updated', 'Svc.Device.SyncModel'];
const needsObject = ['model.update', 'reference.create', 'Svc.Device.Updated', 'Svc.Device.SyncModel'];

/** Header values that are not what they should be, or only just. */
const oddities: readonly (readonly [string, readonly (string | number | boolean | undefined)[]])[] = [
  ['msgType', ['ack', 'Action', '']],
  ['svc-messagetype', ['PlatformEvent', 'platformEventAck']],
  ['action', [undefined, '', 'model.query', 'Model.Create', 'model.create ', '__proto__', 'x'.repeat(300)]],
  ['eventType', [undefined, '', 'Svc.InformationModel.ObjectModelUpdated', 'svc.device.created', 'Svc.Device.Deleted']],
  ['version', [undefined, '1', '3', '2.0', 'two', 2, 1, true]],
  ['correlationId', [undefined, '', 7, 'ü', 'line\nbreak', 'x'.repeat(128), 'x'.repeat(129), 'a b/c?d#e%f']],
  ['id', [undefined, '', 'ü', 'x'.repeat(200), 12]],
  ['ack', [undefined, '', 'none', 'ALL', 'Positive', 'full', 'FULL', 'yes', 'all ', true]],
  ['timeout', ['0', '1', '900', '901', '-1', '1.5', 'soon', 60]],
  ['target', ['', 'edge/sensor', 'a//b', '../x', 'tab\t', 'ü', 'x'.repeat(2000)]],
  ['owner', ['', 'edge', 'edge/mine', 'nobody', '/edge', 'edge//x', 'edge/..', '.', 'a\u0007b']],
  ['parent', ['', 'edge', 'edge/mine', 'nobody', 'edge/', '..']],
  ['context', ['', 'of the user', 'ü']],
  ['objectId', [undefined, '', 'no-guid', '../x', '0b1ec700-0000-4000-8000-00000000040', 5]],
  ['model', [undefined, 'svc.configuration', 'Svc.Device', 'a/b', '..', 'x'.repeat(256), 'x'.repeat(257), 'a b']],
  ['content-encoding', ['utf8', 'UTF-8', 'identity', 'gzip', 'br']],
  ['padding', ['x'.repeat(20_000), 'x'.repeat(33_000)]],
  ['Action', ['model.update']],
  ['iothub-connection-device-id', ['rival-1']],
];

const oddity = fc
  .constantFrom(...oddities)
  .chain(([name, values]) => fc.constantFrom(...values).map((value) => [name, value] as const));

const acks = fc.oneof(
  { weight: 6, arbitrary: fc.constant('all') },
  { weight: 3, arbitrary: fc.constantFrom('none', 'positive', 'negative') },
);

const envelopeOf = (name: string, id: string): Properties =>
  events.includes(name)
    ? { 'svc-messagetype': 'platformEvent', eventType: name, id }
    : { msgType: 'action', action: name, version: '2', correlationId: id };

type Packing = (body: Buffer) => readonly [Buffer, Properties];
const packings: readonly Packing[] = [
  (body) => [Buffer.from(gzipSync(body).toString('base64')), { 'content-encoding': 'gzip' }],
  (body) => [gzipSync(body), { 'content-encoding': 'GZIP' }],
  (body) => [Buffer.from(`"${deflateSync(body).toString('base64')}"`), { 'content-encoding': 'deflate' }],
  (body) => [gzipSync(body).subarray(0, -9), { 'content-encoding': 'gzip' }],
  (body) => [body, { 'content-encoding': 'gzip' }],
];
const packing = fc.oneof(
  { weight: 9, arbitrary: fc.constant<Packing>((body) => [body, {}]) },
  { weight: 1, arbitrary: fc.constantFrom(...packings) },
);

/** Three objects that most of what follows is about: a pump, a sensor whose parent it is, and another one that it contains. */
export function beginnings(place: number): readonly Sent[] {
  const [pump = '', sensor = '', other = ''] = objectIdsOf(place);
  const serial = `S-${place}-1`;
  const ofPump = { objectId: pump, model: 'svc.device', type: 'pump', properties: { serial } };
  const parent = { objectId: pump, reference: 'contains' };
  const ofSensor = { objectId: sensor, type: 'sensor', properties: { quantity: 'flow' }, parent };
  const ofOther = { objectId: other, model: 'svc.device', type: 'sensor', properties: { quantity: 'heat' } };
  const references = [
    { name: 'feeds', to: { objectId: sensor, model: 'svc.device' }, attributes: { isContained: true } },
    { name: 'contains', to: { objectId: other, model: 'svc.device' }, attributes: { isContained: false } },
  ];
  return [
    { properties: { ...envelopeOf('model.create', 'pump'), ack: 'all' }, body: json(ofPump) },
    { properties: { ...envelopeOf('Svc.Device.Created', 'sensor'), ack: 'all', owner: 'edge' }, body: json(ofSensor) },
    { properties: { ...envelopeOf('model.create', 'other'), ack: 'all' }, body: json(ofOther) },
    { properties: { ...envelopeOf('reference.create', 'parts'), ack: 'all', objectId: pump }, body: json(references) },
  ];
}

export const messages = (place: number, count: number): fc.Arbitrary<readonly Sent[]> => {
  const { of, objectIds } = bodies(place);
  const one = fc.constantFrom(...actions, ...events).chain((name) =>
    fc
      .record({
        ...{ body: of(name), ack: acks, objectId: fc.constantFrom(...objectIds), hasObject: fc.boolean() },
        odd: fc.oneof(
          { weight: 6, arbitrary: fc.constant([]) },
          { weight: 2, arbitrary: fc.array(oddity, { minLength: 1, maxLength: 1 }) },
          { weight: 1, arbitrary: fc.array(oddity, { minLength: 2, maxLength: 3 }) },
        ),
        pack: packing,
        target: fc.constantFrom(undefined, 'edge/sensor-1'),
      })
      .map(({ body, ack, objectId, hasObject, odd, pack, target }) => (index: number): Sent => {
        const [packed, encoding] = pack(body);
        const all: Record<string, string | number | boolean | undefined> = {
          ...envelopeOf(name, `${name}-${index}`),
          ack,
          target,
          ...(needsObject.includes(name) && (hasObject || name !== 'Svc.Device.SyncModel') && { objectId }),
          ...(name === 'Svc.Device.SyncModel' && { model: 'svc.device' }),
          ...encoding,
          ...Object.fromEntries(odd),
        };
        const properties: Record<string, string | number | boolean> = {};
        for (const [key, value] of Object.entries(all)) if (value !== undefined) properties[key] = value;
        return { properties, body: packed };
      }),
  );
  return fc
    .array(one, { minLength: count, maxLength: count })
    .map((makers) => makers.map((make, index) => make(index)));
};
