import fc from 'fast-check';

/** Bodies for every message, most of them good. Each device has objects and machines of its own, and knows its neighbour's. */

const hex = (place: number) => place.toString(16).padStart(8, '0');
export const objectIdsOf = (place: number) => [1, 2, 3].map((n) => `${hex(place)}-0000-4000-8000-00000000000${n}`);
export const json = (value: unknown) => Buffer.from(JSON.stringify(value));
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

export function bodies(place: number) {
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
    'model.create': create,
    'model.update': update,
    'type.create': definition,
    'reference.create': fc.array(reference, { minLength: 1, maxLength: 2 }).map(json),
    'identity.update': identity.map(json),
    'identity.delete': identity.map(json),
    'Svc.Device.Created': created,
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
