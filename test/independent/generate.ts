import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { bodies, json, objectIdsOf } from './bodies.ts';
import type { Sent } from './model/steps.ts';

/** Messages that a device could send: most of them reasonable, with something odd in every third. */

type Properties = Sent['properties'];

const actions = [
  'model.create',
  'model.update',
  'type.create',
  'reference.create',
  'identity.update',
  'identity.delete',
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

/** What the device at this place of all sends. */
export const messages = (place: number, count: number): fc.Arbitrary<readonly Sent[]> => {
  const { of, objectIds } = bodies(place);
  const one = fc.constantFrom(...actions, ...events).chain((name) =>
    fc
      .record({
        body: of(name),
        ack: acks,
        objectId: fc.constantFrom(...objectIds),
        hasObject: fc.boolean(),
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
