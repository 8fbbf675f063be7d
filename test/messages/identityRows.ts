import {
  hostileIdentities,
  hostilePaths,
  hostilePrincipals,
  nameFilling,
  pathFault,
  shown,
  urlFault,
} from '../support/hostileNames.ts';
import type { ScriptedCall } from '../support/scriptedBackend.ts';
import { devicePrincipal, identityWithId, sensorPrincipal } from '../support/world.ts';
import { incident, type Row, row } from './table/row.ts';

/** What `identity.update` and `identity.delete` have in common: how an identity is named and found. */

export const sensor = {
  id: sensorPrincipal,
  identity: 'sensor-1',
  path: 'd1/edge/sensor-1',
  parentId: devicePrincipal,
};
const resolve = 'GET /devices?device=d1&path=edge&identity=sensor-1';
export const finds = (call = resolve, found: object = sensor): ScriptedCall => ({
  call,
  reply: [200, { data: [found] }],
});
export const findsNothing = (call = resolve): ScriptedCall => ({ call, reply: [200, { data: [] }] });
export const unknownIdentity = 'the principal manager knows no such identity below this device';

const properties = { parent: 'edge' };
const body = { identity: 'sensor-1' };

export function identityRows(failed: (code: string, details: unknown) => Row['ack']): readonly Row[] {
  const unknown = failed('http_response_error', unknownIdentity);
  const rejects = (it: string, given: Partial<Row>, details: string): Row => ({
    it,
    properties,
    body,
    ...given,
    ack: failed('validation_error', details),
  });
  return [
    row(
      'gives the same result for an identity that is connected through another device {S13.7 S14.4 S19.3}',
      { device: 'd2', properties, body },
      unknown,
      [{ ...findsNothing('GET /devices?device=d2&path=edge&identity=sensor-1'), headers: { 'x-svc-device-id': 'd2' } }],
    ),
    ...hostilePrincipals.map((id) =>
      row(
        `is the service’s failure when the identity’s id is not a path segment: ${shown(id)}`,
        { properties, body },
        failed('internal_platform_error', incident),
        [identityWithId(id, resolve)],
      ),
    ),
    ...[
      ['', 'must not be empty'],
      [7, 'must be text'],
      [null, 'must be text'],
      [['sensor-1'], 'must be text'],
    ].map(([identity, fault]) =>
      rejects(`refuses ${JSON.stringify(identity)} {S13.6}`, { body: { identity } }, `body.identity ${fault}`),
    ),
    ...(
      [
        [
          'a parent',
          nameFilling('/devices?device=d1&path=&identity=sensor-1'),
          'sensor-1',
          ' and body.identity are together',
        ],
        [
          'an identity',
          'edge',
          nameFilling('/devices?device=d1&path=edge&identity='),
          ' and body.identity are together',
        ],
        ['an identity right below the device', '', nameFilling('/devices?device=d1&identity='), undefined],
      ] as const
    ).flatMap(([what, parent, identity, together]): Row[] => {
      const query = [
        ...(parent ? [`path=${encodeURIComponent(parent)}`] : []),
        `identity=${encodeURIComponent(identity)}`,
      ];
      const longer = parent.length > identity.length ? [`n${parent}`, identity] : [parent, `n${identity}`];
      return [
        row(`is found by ${what} that fills the URL’s limit`, { properties: { parent }, body: { identity } }, unknown, [
          findsNothing(`GET /devices?device=d1&${query.join('&')}`),
        ]),
        rejects(
          `refuses ${what} that makes the URL of a backend call one byte too long, before any call`,
          { properties: { parent: longer[0] }, body: { identity: longer[1] } },
          `${together ? `property parent${together}` : 'body.identity is'} ${urlFault}`,
        ),
      ];
    }),
    rejects('refuses invalid Unicode', { body: '{"identity":"\\ud800"}' }, 'body.identity must be Unicode text'),
    rejects('refuses a body that is not an object', { body: '["sensor-1"]' }, 'body must be a JSON object'),
    rejects(
      'refuses a body in which identity occurs twice {S13.6}',
      { body: '{"identity":"sensor-1","identity":"sensor-2"}' },
      'body.identity occurs twice',
    ),
    ...hostilePaths.map((parent) =>
      rejects(
        `refuses a parent with empty or climbing names or control characters: ${shown(parent)}`,
        { properties: { parent } },
        `property parent ${pathFault}`,
      ),
    ),
    ...hostileIdentities.map(([identity, encoded]) =>
      row(`never splits identities: ${shown(identity)} is one {S7.1}`, { properties, body: { identity } }, unknown, [
        findsNothing(`GET /devices?device=d1&path=edge&identity=${encoded}`),
      ]),
    ),
    row('splits a parent’s names only at its slashes', { properties: { parent: 'a%2fb&device=d2' }, body }, unknown, [
      findsNothing('GET /devices?device=d1&path=a%252fb%26device%3Dd2&identity=sensor-1'),
    ]),
  ];
}
