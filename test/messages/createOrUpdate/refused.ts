import {
  hostilePaths,
  hostilePrincipals,
  nameFilling,
  pathFault,
  shown,
  urlFault,
} from '../../support/hostileNames.ts';
import {
  device,
  edgeIdentity,
  identityWithId,
  otherPumpId,
  problem,
  pump,
  pumpAnswer,
  pumpType,
  sensorPrincipal,
} from '../../support/world.ts';
import { incident, type Row, related } from '../table/row.ts';
import {
  absent,
  claimPump,
  deviceRow,
  lookUp,
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

const changes = [
  ['a changed unique property', { properties: { serial: 'FP-2' } }],
  ['a type outside the uniqueness group', { type: 'note@1.0.0' }],
  ['a switch to another type without its version', { type: 'tank' }],
] as const;

export function refusedRows(registration: Registration): readonly Row[] {
  const { named, unnamed, failed, refused, invalid } = registration;
  const pumped = named();
  const chain = unnamed({ ...pumpBody, type: 'chain@64.0.0' });
  return [
    {
      it: 'refuses an owner that is not connected through the device, before any other call {S9.5 S15.3 S19.3}',
      ...named(pumpBody, ofSensor).sent,
      backend: [{ call: edgeIdentity.call, reply: [200, { data: [] }] }],
      ...failed('http_response_error', 'property owner names no identity that is connected through this device'),
    },
    deviceRow(
      'reads no more than 1,000 hits of a look-up',
      unnamed().sent,
      failed('response_too_large', 'information model: more than 1000 object models were found'),
      [pumpType, lookUp(pump(), ...otherPumps(1_000))],
    ),
    deviceRow(
      'reads the results of no more than 3,000 related models',
      pumped.sent,
      failed('response_too_large', 'information model: the answer has more than 3000 related models'),
      [
        absent,
        {
          ...pumped.creates,
          reply: [201, pumpAnswer({ relatedModels: Array.from({ length: 3_001 }, () => related('svc.history')) })],
        },
      ],
    ),
    {
      it: 'refuses a device that the principal manager does not know {S9.5}',
      ...pumped.sent,
      backend: [{ call: device.call, reply: [200, { data: [] }] }],
      ...failed('http_response_error', 'the principal manager has no identity for this device'),
    },
    {
      it: 'refuses an owner that makes the URL of a backend call one byte too long, before any call',
      ...named(pumpBody, { owner: nameFilling('/devices?device=d1&path=', 1) }).sent,
      ...failed(invalid, `property owner is ${urlFault}`),
    },
    {
      it: 'counts the id of the device in the length of the URL',
      ...named(pumpBody, { owner: nameFilling('/devices?device=d1&path=') }).sent,
      device: 'd12',
      ...failed(invalid, `property owner is ${urlFault}`),
    },
    ...hostilePaths.map((owner) => ({
      it: `refuses an owner path with empty or climbing names or control characters: ${shown(owner)}`,
      ...named(pumpBody, { owner }).sent,
      ...failed(invalid, `property owner ${pathFault}`),
      ackProperties: {},
    })),
    ...hostilePrincipals.map((id) => ({
      it: `is the service’s failure when the owner’s id is not a path segment: ${shown(id)}`,
      ...pumped.sent,
      backend: [identityWithId(id)],
      ...failed('internal_platform_error', incident),
    })),
    deviceRow(
      'is the service’s failure when a found model has an id that is not a path segment',
      pumped.sent,
      failed('internal_platform_error', incident),
      [{ call: readPump, reply: [200, pump({ model: '..' })] }],
    ),
    deviceRow(
      'is the service’s failure when a model that is found by unique properties has a model id that is no text',
      unnamed().sent,
      failed('internal_platform_error', incident),
      [pumpType, { ...lookUp(), reply: [200, ` ${JSON.stringify({ data: [pump({ model: 7 })] })}`] }],
    ),
    deviceRow(
      'is the service’s failure when a created model has an id that is not a GUID',
      pumped.sent,
      failed('internal_platform_error', incident),
      [absent, { ...pumped.creates, reply: [201, ` ${JSON.stringify(pumpAnswer({ objectId: 'pump-1' }))}`] }],
    ),
    ...[{ model: 7 }, { success: 'true' }, { code: null }, { details: undefined }, { created: 1 }].map((more) => {
      const relatedModels = [related('svc.history', more)];
      return deviceRow(
        `is the service’s failure when the answer has a related model with ${Object.keys(more)} of another type`,
        pumped.sent,
        failed('internal_platform_error', incident),
        [absent, { ...pumped.creates, reply: [201, ` ${JSON.stringify(pumpAnswer({ relatedModels }))}`] as const }],
      );
    }),
    ...changes.map(([what, more]) => {
      const request = named({ ...pumpBody, ...more });
      return deviceRow(
        `reports a modification that the information model refuses: ${what} {S9.13 S20.6}`,
        request.sent,
        refused('replace', 'HTTP 400: Invalid modification'),
        [stored({ version: 2 }), { ...request.updates(2), reply: problem(400, 'Invalid modification') }],
      );
    }),
    deviceRow(
      'updates none of two models that have the unique properties of the request',
      unnamed().sent,
      failed(
        'http_response_error',
        'information model: 2 object models have the unique properties of the request; none was updated',
      ),
      [pumpType, lookUp(pump(), pump({ objectId: otherPumpId, version: 7 }))],
    ),
    deviceRow(
      'refuses a type with more base types than are read for one look-up',
      chain.sent,
      failed('http_response_error', 'body.type has more than 63 base types'),
      [
        ...Array.from({ length: 64 }, (_, index) =>
          type(`chain/versions/${64 - index}.0.0`, {
            ...{ typeId: 'chain', version: `${64 - index}.0.0` },
            ...{ unique: ['serial'], baseTypes: [`chain@${63 - index}.0.0`] },
          }),
        ),
      ],
    ),
    deviceRow(
      'refuses a type with more unique properties than are compared',
      chain.sent,
      failed('http_response_error', 'body.type has more than 256 unique properties'),
      [
        type('chain/versions/64.0.0', {
          ...{ typeId: 'chain', version: '64.0.0', unique: Array.from({ length: 200 }, (_, index) => `first${index}`) },
          ...{ baseTypes: ['chain@63.0.0'] },
        }),
        type('chain/versions/63.0.0', {
          ...{ typeId: 'chain', version: '63.0.0', unique: Array.from({ length: 57 }, (_, index) => `second${index}`) },
        }),
      ],
    ),
    deviceRow(
      'reads no more than 1,000 names of unique properties in one type',
      unnamed().sent,
      failed('response_too_large', 'type registry: unique of the type definition has more than 1000 values'),
      [type('pump', { version: '1.0.0', unique: Array.from({ length: 1_001 }, () => 'serial') })],
    ),
    deviceRow('reports a model that was deleted just before', pumped.sent, refused('replace', 'HTTP 404: Not found'), [
      stored(),
      { call: putPump, reply: problem(404, 'Not found') },
    ]),
    deviceRow(
      'reports a claim that another won as not authorized, without updating {S9.9}',
      pumped.sent,
      failed(
        'not_authorized',
        'information model: claim object model failed with HTTP 409: Owned by another: as it is',
      ),
      [unowned, { call: claimPump, reply: problem(409, 'Owned by another') }],
    ),
    ...notAuthorizedRows(registration),
    ...twiceRows(registration),
  ];
}

function notAuthorizedRows({ named, unnamed, notAuthorized }: Registration): readonly Row[] {
  const pumped = named().sent;
  const nameless = unnamed().sent;
  const others = stored({ ownerId: sensorPrincipal });
  const cases = [
    ['reports no access to a model {S9.16 S20.1}', pumped, [], readPump, 'read object model'],
    ['is refused an update of another’s {S15.17}', pumped, [others], putPump, 'replace object model'],
    ['is not authorized to look for it', nameless, [pumpType], lookUp().call, 'look up object model'],
    ['is not authorized without the claim', pumped, [unowned], claimPump, 'claim object model'],
  ] as const;
  const answer = problem(403, 'Forbidden');
  return [
    ...cases.map(([it, sent, before, call, operation]) =>
      deviceRow(it, sent, notAuthorized(`information model: ${operation}`), [...before, { call, reply: answer }]),
    ),
    deviceRow('is not authorized without the type', nameless, notAuthorized('type registry: read type definition'), [
      { call: pumpType.call, reply: answer },
    ]),
  ];
}

function twiceRows({ named, unnamed, created, updated, failed, invalid }: Registration): readonly Row[] {
  const likeUnique = unnamed('{"type":"pump","properties":{"serial":"FP-1","serial2":1,"serial2":2}}');
  const unread = named('{"type":"pump","variables":{"a":1,"a":2},"x":1,"x":2}');
  const refuses = (it: string, properties: string): Row =>
    deviceRow(
      it,
      unnamed(`{"type":"pump","properties":${properties}}`).sent,
      failed(invalid, 'body.properties.serial occurs twice'),
      [pumpType],
    );
  return [
    refuses('refuses a unique property that occurs twice', '{"serial":"FP-1","serial":"FP-2"}'),
    refuses('refuses a wrapped unique property that occurs twice', '{"serial":{"value":"FP-1","value":"FP-2"}}'),
    pumpRow('accepts a duplicate property with a name close to a unique one’s', likeUnique.sent, updated(), [
      pumpType,
      lookUp(pump()),
      likeUnique.updates(1),
    ]),
    pumpRow('accepts duplicate keys that it does not read', unread.sent, created(), [absent, unread.creates]),
  ];
}
