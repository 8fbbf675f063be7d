import { hostileIdentities, hostileObjectIds, hostilePaths } from '../support/hostileNames.ts';

/** What a device sends to get at what is not its own. */
export interface Attempt {
  readonly message: string;
  /** What is special about it. */
  readonly what: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** It succeeds, because it then is about something of the sender's own. */
  readonly isHarmless?: boolean;
  /** Who tries: a device of the victim's tenant, or of another one. Both, unless given. */
  readonly from?: 'same tenant' | 'other tenant';
}

/** Whom it is aimed at: an object with its configuration, a child, identities, a type. */
export interface Victim {
  readonly deviceId: string;
  readonly objectId: string;
  readonly childId: string;
  readonly serial: string;
  readonly typeId: string;
  readonly principalId: string;
  /** Names of identities, from the device on. */
  readonly names: readonly [string, string];
}

/** All that is tried by a device with an object `ownId` of its own. */
export function attemptsOn(victim: Victim, ownId: string): Attempt[] {
  const { deviceId, objectId, childId, serial, typeId, principalId, names } = victim;
  const gateway = { model: 'svc.device', type: 'gateway', properties: { serial } };
  const settings = { model: 'svc.configuration', type: 'gateway.settings', properties: { logLevel: 'off' } };
  const sensor = { model: 'svc.device', type: 'sensor', properties: { quantity: 'none' } };
  const pump = { type: 'pump', properties: { serial: ownId } };
  const to = (objectId: string, model = 'svc.device') => [{ name: 'feeds', to: { objectId, model } }];

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

  const registrations = [
    { what: 'its object id', body: { ...gateway, objectId } },
    { what: 'the object id of its configuration', body: { ...settings, objectId } },
    { what: 'the object id of its child', body: { ...sensor, objectId: childId } },
    { what: 'its serial number', body: gateway },
  ].map((one) => ({ ...one, from: 'same tenant' as const }));
  const owners = [...paths, ...hostilePaths].map((owner) => ({
    what: `the owner ${owner}`,
    properties: { owner },
    body: sensor,
  }));
  const identities = [
    ...[...childNames, ...hostileIdentities.map(([name]) => name)].map((identity) => ({
      what: `the identity ${identity}`,
      body: { identity },
    })),
    ...[...paths, ...hostilePaths].map((parent) => ({
      what: `the parent ${parent}`,
      properties: { parent },
      body: { identity: names[1] },
    })),
  ];
  const hostileObjects = [...objectIds, ...hostileObjectIds].map((objectId) => ({
    what: `the object id ${objectId}`,
    properties: { objectId, model: 'svc.device' },
  }));
  const hostileModels = models.map((model) => ({ what: `the model ${model}`, properties: { objectId: ownId, model } }));
  const itsModels = [
    { what: 'its object', properties: { objectId, model: 'svc.device' } },
    { what: 'its configuration', properties: { objectId, model: 'svc.configuration' } },
    { what: 'its child', properties: { objectId: childId, model: 'svc.device' } },
  ];
  const places = [...itsModels, ...hostileObjects, ...hostileModels];

  const by = (message: string, all: readonly Omit<Attempt, 'message'>[]) => all.map((one) => ({ message, ...one }));
  return [
    ...by('model.create', [
      ...registrations,
      ...owners,
      ...objectIds.map((objectId) => ({ what: `the object id ${objectId}`, body: { ...sensor, objectId } })),
      {
        what: 'its identity as the owner in the body',
        body: { ...sensor, ownerId: principalId, path: deviceId },
        isHarmless: true,
      },
    ]),
    ...by('model.update', [
      ...places.map((place) => ({ ...place, body: { ...gateway, version: 1 } })),
      {
        what: 'its object id in the body',
        properties: { objectId: ownId },
        body: { ...pump, objectId, version: 1 },
        isHarmless: true,
      },
    ]),
    ...by('type.create', [
      { what: 'its type and version', body: { typeId, version: '1.0.0' }, from: 'same tenant' },
      {
        what: 'its type as a base',
        body: { typeId: 'heir', version: '1.0.0', baseTypes: [`${typeId}@1.0.0`] },
        from: 'other tenant',
      },
      {
        what: 'a type of all tenants',
        body: {
          typeId: 'gateway',
          version: '9.0.0',
          unique: ['serial'],
          properties: { serial: { dataType: 'string' } },
        },
      },
      ...models.map((model) => ({
        what: `the model ${model}`,
        properties: { model },
        body: { typeId, version: '9.0.0' },
      })),
    ]),
    ...by('reference.create', [
      ...places.map((place) => ({ ...place, body: to(ownId) })),
      { what: 'a reference to its object', properties: { objectId: ownId }, body: to(objectId) },
      {
        what: 'a reference to its configuration',
        properties: { objectId: ownId },
        body: to(objectId, 'svc.configuration'),
      },
      { what: 'a reference to nowhere', properties: { objectId: ownId }, body: to(`${ownId}/../${objectId}`) },
    ]),
    ...by('identity.update', [
      ...identities.map(({ body, ...one }) => ({ ...one, body: { ...body, publicKey: 'mine' } })),
      {
        what: 'its name as a parent without identity',
        properties: { parent: deviceId },
        body: { publicKey: 'mine' },
        isHarmless: true,
      },
    ]),
    ...by('identity.delete', identities),
    ...by('Svc.Device.Created', [
      ...registrations,
      ...owners,
      ...hostileObjects.map((place) => ({ ...place, body: sensor })),
      ...hostileModels.map((place) => ({ ...place, body: sensor })),
      {
        what: 'its object as the parent',
        properties: { objectId: ownId },
        body: { ...pump, parent: { objectId, reference: 'contains' } },
      },
    ]),
    ...by('Svc.Device.Updated', [
      ...places.map((place) => ({ ...place, body: { ...gateway, version: 1, model: undefined } })),
      { what: 'its object id in the body', properties: { objectId: ownId }, body: { ...pump, objectId, version: 1 } },
    ]),
    ...by('Svc.Device.SyncModel', [
      ...places.map((place) => ({ ...place, body: { hierarchical: true, related: ['svc.configuration'] } })),
      { what: 'its object id in the body', body: { objectId, model: 'svc.device' } },
      {
        what: 'a hostile related model',
        properties: { objectId: ownId, model: 'svc.device' },
        body: { related: [`../../${objectId}/models/svc.configuration`] },
      },
    ]),
  ];
}
