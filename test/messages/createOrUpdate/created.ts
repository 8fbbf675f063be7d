import { nameFilling } from '../../support/hostileNames.ts';
import {
  edgeIdentity,
  noConfiguration,
  problem,
  pump,
  pumpAnswer,
  pumpId,
  pumpType,
  sensorPrincipal,
} from '../../support/world.ts';
import { type Row, related, unrelated } from '../table/row.ts';
import {
  absent,
  claims,
  deviceRow,
  isNew,
  lookUp,
  newRow,
  ofSensor,
  otherPumps,
  pumpBody,
  pumpRow,
  putPump,
  type Registration,
  readPump,
  stored,
  type,
  unowned,
} from './registration.ts';

export function createdRows({ named, unnamed, created, updated, refused, header }: Registration): readonly Row[] {
  const note = unnamed({ type: 'note' });
  const withoutSerial = unnamed({ type: 'pump', properties: {} });
  const nameless = unnamed();
  const owned = named(pumpBody, ofSensor);
  const two = [related('svc.history'), related('svc.location', { created: false })];
  const climbing = {
    model: 'svc.device',
    typeId: 'pump',
    version: '1.0.0',
    unique: ['serial'],
    baseTypes: ['../device'],
  };
  const longOwner = nameFilling('/devices?device=d1&path=');
  const long = named(pumpBody, { owner: longOwner });
  const failing = [unrelated('svc.history', 'validation_error', 'no serial')];
  return [
    newRow(
      'creates a new model on every request when neither objectId nor unique properties are given {S9.2 S9.11 S15.4 S15.13}',
      note.sent,
      created(pump({ ...isNew, type: 'note@1.0.0' })),
      [
        type('note', { version: '1.0.0', uniqueProperties: [] }),
        { ...note.creates, reply: [201, pumpAnswer({ ...isNew, type: 'note@1.0.0' })] },
      ],
    ),
    deviceRow(
      'does not look for a model when the request lacks a unique property {S9.7}',
      withoutSerial.sent,
      refused('create', 'HTTP 400: Validation failed'),
      [pumpType, { ...withoutSerial.creates, reply: problem(400, 'Validation failed') }],
    ),
    newRow('reads the largest number of unique properties that are compared', nameless.sent, created(pump(isNew)), [
      type('pump', { version: '1.0.0', unique: Array.from({ length: 256 }, (_, index) => `name${index}`) }),
      nameless.creates,
    ]),
    deviceRow(
      'passes an unknown type to the information model, which refuses it {S9.4 S15.8}',
      nameless.sent,
      refused('create', 'HTTP 400: Validation failed'),
      [
        { call: pumpType.call, reply: problem(404, 'Not found') },
        { ...nameless.creates, reply: problem(400, 'Validation failed') },
      ],
    ),
    pumpRow('passes a model whose type has an unknown base type to the information model', nameless.sent, updated(), [
      type('pump', { version: '1.0.0', unique: ['serial'], baseTypes: ['device@2.1.0'] }),
      { call: type('device/versions/2.1.0', {}).call, reply: problem(404, 'Not found') },
      { ...nameless.creates, reply: problem(409, 'Exists', { objectId: pumpId, type: 'pump@1.0.0' }) },
      stored(),
      nameless.updates(1),
    ]),
    newRow('passes a model of a type with a malformed base type on', nameless.sent, created(pump(isNew)), [
      { ...pumpType, reply: [200, ` ${JSON.stringify(climbing)}`] },
      nameless.creates,
    ]),
    newRow(
      'creates a new model when no type of its lineage declares anything unique',
      nameless.sent,
      created(pump(isNew)),
      [
        type('pump', { version: '1.0.0', baseTypes: ['device@2.1.0'] }),
        type('device/versions/2.1.0', { typeId: 'device', version: '2.1.0', baseTypes: [], unique: [] }),
        nameless.creates,
      ],
    ),
    newRow('checks model, type id and values of every hit {S9.7 S15.9}', nameless.sent, created(pump(isNew)), [
      pumpType,
      lookUp(
        pump({ type: 'tank@1.0.0' }),
        pump({ model: 'svc.other' }),
        pump({ properties: { serial: 'FP-2' } }),
        pump({ properties: {} }),
      ),
      nameless.creates,
    ]),
    {
      it: 'looks for an owner whose name makes the URL exactly as long as allowed',
      ...long.sent,
      backend: [
        { call: `GET /devices?device=d1&path=${encodeURIComponent(longOwner)}`, reply: edgeIdentity.reply },
        absent,
        long.creates,
        noConfiguration(pumpId),
      ],
      ...created(pump({ ownerId: sensorPrincipal, path: 'd1/edge/sensor-1' })),
    },
    newRow('checks as many as 1,000 hits', nameless.sent, created(pump(isNew)), [
      pumpType,
      lookUp(...otherPumps(1_000)),
      nameless.creates,
    ]),
    newRow('ignores a hit with a malformed type, which violates the contract', nameless.sent, created(pump(isNew)), [
      pumpType,
      { ...lookUp(), reply: [200, ` ${JSON.stringify({ data: [pump({ type: 'pump@x' })] })}`] },
      nameless.creates,
    ]),
    {
      it: `makes the owner of the ${header} the owner of the model {S9.1 S15.3}`,
      ...owned.sent,
      backend: [edgeIdentity, absent, owned.creates, noConfiguration(pumpId)],
      ...created(pump({ ownerId: sensorPrincipal, path: 'd1/edge/sensor-1' })),
    },
    pumpRow(
      'reports every related model, without which ones were created {S9.16 S15.10 S15.16}',
      named().sent,
      created(pump(), { relatedModels: two }),
      [absent, { ...named().creates, reply: [201, pumpAnswer({ relatedModels: two })] }],
    ),
    pumpRow(
      'counts as success when a related model could not be created {S9.14 S15.14}',
      named().sent,
      created(pump(), { relatedModels: failing }),
      [absent, { ...named().creates, reply: [201, pumpAnswer({ relatedModels: failing })] }],
    ),
  ];
}

const atSensor = { version: 2, ownerId: sensorPrincipal, path: 'd1/edge/sensor-1' };
const inherited = { serial: 'FP-1', site: 'north', tag: 7 };

export function updatedRows({ named, unnamed, updated, header }: Registration): readonly Row[] {
  const pumped = named();
  const nameless = unnamed();
  const owned = named(pumpBody, ofSensor);
  const nulled = unnamed({ ...pumpBody, objectId: null });
  const wrapped = unnamed({ ...pumpBody, properties: { serial: { value: 'FP-1' } } });
  const sited = unnamed({ ...pumpBody, properties: inherited });
  const versioned = named({ ...pumpBody, version: 77 });
  const large = '9007199254740993';
  const failing = [unrelated('svc.history', 'not_authorized', 'taken')];
  /** A request for another version of the type, whose definition has this path. */
  const ofType = (it: string, name: string, path: string): Row => {
    const request = unnamed({ ...pumpBody, type: name });
    return pumpRow(it, request.sent, updated(), [
      { ...pumpType, call: type(path, {}).call },
      lookUp(pump()),
      request.updates(1),
    ]);
  };
  return [
    pumpRow(
      'finds an existing model by objectId plus model, of any type, and updates it with the stored version {S9.3 S9.6 S15.7 S15.9 S18.2}',
      pumped.sent,
      updated(pump({ version: 5 })),
      [stored({ version: 4, type: 'tank@2.0.0' }), pumped.updates(4)],
    ),
    pumpRow(
      'finds an existing model by type id plus unique properties when objectId is absent, of any major version {S9.7 S15.9}',
      nameless.sent,
      updated(pump({ version: 10 })),
      [pumpType, lookUp(pump({ version: 9, type: 'pump@3.1.0' })), nameless.updates(9)],
    ),
    pumpRow(
      'finds an existing model by the unique properties of a type and its base types, when the registry does not resolve them {S5.3}',
      sited.sent,
      updated(),
      [
        type('pump', { version: '1.0.0', unique: ['serial'], baseTypes: ['device@2.1.0', 'tagged@1.0.0'] }),
        type('device/versions/2.1.0', { typeId: 'device', version: '2.1.0', baseTypes: ['sited@1.0.0'] }),
        type('tagged/versions/1.0.0', { typeId: 'tagged', version: '1.0.0', uniqueProperties: ['tag'] }),
        type('sited/versions/1.0.0', {
          ...{ typeId: 'sited', version: '1.0.0' },
          ...{ unique: ['site'], baseTypes: ['sited@1.0.0', 'device@2.1.0'] },
        }),
        {
          ...lookUp(pump({ properties: inherited })),
          body: '{"model":"svc.device","type":"pump","properties":{"serial":"FP-1","tag":7,"site":"north"}}',
        },
        sited.updates(1),
      ],
    ),
    pumpRow('finds an existing model by the unique properties of a type without base types', nameless.sent, updated(), [
      type('pump', { version: '1.0.0', unique: ['serial'] }),
      lookUp(pump()),
      nameless.updates(1),
    ]),
    pumpRow('requests no base types when the registry resolves the unique properties', nameless.sent, updated(), [
      type('pump', { version: '1.0.0', uniqueProperties: ['serial'], unique: ['tag'], baseTypes: ['device@2.1.0'] }),
      lookUp(pump()),
      nameless.updates(1),
    ]),
    pumpRow('updates again at an identical request {S15.13 S18.7}', pumped.sent, updated(pump({ version: 3 })), [
      stored({ version: 2 }),
      pumped.updates(2),
    ]),
    pumpRow('updates at a repeated request with objectId null {S9.10}', nulled.sent, updated(pump({ version: 3 })), [
      pumpType,
      lookUp(pump({ version: 2 })),
      nulled.updates(2),
    ]),
    pumpRow('compares plain and wrapped values of unique properties as equal', wrapped.sent, updated(), [
      pumpType,
      lookUp(pump()),
      wrapped.updates(1),
    ]),
    ofType('asks for the type version that the request names {S9.3}', 'pump@2.1.0', 'pump/versions/2.1.0'),
    ofType('passes on a major type version: the information model chooses {S4.4 S9.12}', 'pump@2', 'pump/versions/2'),
    pumpRow('replaces the version of the request by the stored one', versioned.sent, updated(pump()), [
      { call: readPump, reply: [200, JSON.stringify(pump()).replace('"version":1', `"version":${large}`)] },
      { call: putPump, body: versioned.sent.body.replace('77', large), reply: [200, pumpAnswer()] },
    ]),
    pumpRow(
      'counts as success when an update could not create a related model {S9.14}',
      pumped.sent,
      updated(pump({ version: 2 }), { relatedModels: failing }),
      [stored(), { ...pumped.updates(1), reply: [200, pumpAnswer({ version: 2, relatedModels: failing })] }],
    ),
    pumpRow('claims an unowned model before updating it {S9.9 S15.10}', pumped.sent, updated(), [
      unowned,
      claims(),
      pumped.updates(1),
    ]),
    ...[null, ''].map((ownerId) =>
      pumpRow(`claims a model whose ownerId is ${ownerId === null ? 'null' : 'empty'}`, pumped.sent, updated(), [
        { call: readPump, reply: [200, ` ${JSON.stringify(pump({ ownerId }))}`] as const },
        claims(),
        pumped.updates(1),
      ]),
    ),
    {
      it: `claims an unowned model for the owner of the ${header}`,
      ...owned.sent,
      backend: [
        edgeIdentity,
        unowned,
        claims(sensorPrincipal),
        { ...owned.updates(1), reply: [200, pumpAnswer(atSensor)] },
        noConfiguration(pumpId),
      ],
      ...updated(pump(atSensor)),
    },
    {
      it: 'claims no model that has an owner {S9.9}',
      ...owned.sent,
      backend: [edgeIdentity, stored(), owned.updates(1), noConfiguration(pumpId)],
      ...updated(),
    },
  ];
}
