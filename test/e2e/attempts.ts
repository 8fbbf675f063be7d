import type { Target } from '../../sandbox/stories/story.ts';
import { hostileIdentities, hostileObjectIds, hostilePaths } from '../support/hostileNames.ts';

/** Whom attempts are aimed at: an object with its configuration, a child, identities, a type. */
export interface Victim extends Pick<Target, 'deviceId' | 'principalId' | 'objectId' | 'childId' | 'typeId'> {
  readonly serial: string;
  /** Names of identities, from the device on. */
  readonly names: readonly [string, string];
}

/** The victim, and all ways to it that a device with an object `ownId` of its own may try. */
export function targetOf(victim: Victim, ownId: string): Target {
  const { deviceId, objectId, childId, serial, principalId, names } = victim;
  const gateway = { model: 'svc.device', type: 'gateway', properties: { serial } };
  const settings = { model: 'svc.configuration', type: 'gateway.settings', properties: { logLevel: 'off' } };
  const sensor = { model: 'svc.device', type: 'sensor', properties: { quantity: 'none' } };

  const paths = [deviceId, names.join('/'), `${deviceId}/${names[0]}`, `../${deviceId}`, `%2e%2e/${deviceId}`];
  const childNames = [deviceId, names[0], `${deviceId}/${names[0]}`, `../${deviceId}`, `..%2f${deviceId}`, principalId];
  const objectIds = [`../${objectId}`, `${ownId}/../${objectId}`, `${ownId}%2f..%2f${objectId}`, `${objectId}/owner`];
  const models = [
    '../svc.device',
    `svc.device/../../../${objectId}/models/svc.device`,
    'a/b',
    '%2f',
    '..',
    '..svc.device',
  ];

  const hostilePlaces = [
    ...[...objectIds, ...hostileObjectIds].map((objectId) => ({
      what: `the object id ${objectId}`,
      properties: { objectId, model: 'svc.device' },
    })),
    ...models.map((model) => ({ what: `the model ${model}`, properties: { objectId: ownId, model } })),
  ];
  return {
    ...victim,
    ownId,
    gateway,
    sensor,
    pump: { type: 'pump', properties: { serial: ownId } },
    objectIds,
    models,
    hostileAddresses: hostilePlaces,
    addresses: [
      { what: 'its object', properties: { objectId, model: 'svc.device' } },
      { what: 'its configuration', properties: { objectId, model: 'svc.configuration' } },
      { what: 'its child', properties: { objectId: childId, model: 'svc.device' } },
      ...hostilePlaces,
    ],
    registrations: [
      { what: 'its object id', body: { ...gateway, objectId } },
      { what: 'the object id of its configuration', body: { ...settings, objectId } },
      { what: 'the object id of its child', body: { ...sensor, objectId: childId } },
      { what: 'its serial number', body: gateway },
    ].map((one) => ({ ...one, from: 'same tenant' as const })),
    owners: [...paths, ...hostilePaths].map((owner) => ({
      what: `the owner ${owner}`,
      properties: { owner },
      body: sensor,
    })),
    identities: [
      ...[...childNames, ...hostileIdentities.map(([name]) => name)].map((identity) => ({
        what: `the identity ${identity}`,
        body: { identity },
      })),
      ...[...paths, ...hostilePaths].map((parent) => ({
        what: `the parent ${parent}`,
        properties: { parent },
        body: { identity: names[1] },
      })),
    ],
  };
}
