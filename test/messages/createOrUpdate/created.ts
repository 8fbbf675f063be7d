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
  deviceRow,
  isNew,
  lookUp,
  newRow,
  ofSensor,
  otherPumps,
  pumpBody,
  pumpRow,
  type Registration,
  stored,
  type,
} from './registration.ts';

/** A model that is not there, or cannot be found. */
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
    newRow(
      'passes a model whose type has a malformed base type to the information model',
      nameless.sent,
      created(pump(isNew)),
      [{ ...pumpType, reply: [200, ` ${JSON.stringify(climbing)}`] }, nameless.creates],
    ),
    newRow(
      'creates a new model when neither the type nor its base types declare anything unique',
      nameless.sent,
      created(pump(isNew)),
      [
        type('pump', { version: '1.0.0', baseTypes: ['device@2.1.0'] }),
        type('device/versions/2.1.0', { typeId: 'device', version: '2.1.0', baseTypes: [], unique: [] }),
        nameless.creates,
      ],
    ),
    newRow(
      'checks model, type id and values of every hit of the look-up {S9.7 S15.9}',
      nameless.sent,
      created(pump(isNew)),
      [
        pumpType,
        lookUp(
          pump({ type: 'tank@1.0.0' }),
          pump({ model: 'svc.other' }),
          pump({ properties: { serial: 'FP-2' } }),
          pump({ properties: {} }),
        ),
        nameless.creates,
      ],
    ),
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
