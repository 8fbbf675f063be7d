/** What the scripted backends of the message tables answer, written once. */

/** Principals: the device itself, and an identity connected through it. */
export const devicePrincipal = '11111111-1111-4111-8111-111111111111';
export const sensorPrincipal = '22222222-2222-4222-8222-222222222222';
/** Objects. */
export const pumpId = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
export const otherPumpId = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb';
/** What the service derives for the event of the tables (A2). */
export const derivedObjectId = '78cd15df-cdb1-5e1f-aadc-511773aa1657';
export const derivedCorrelationId = '78139209-5676-5828-834a-22e70424f306';

export const device = {
  call: 'GET /devices?device=d1',
  reply: [200, { data: [{ id: devicePrincipal, identity: 'd1', path: 'd1', parentId: null }] }],
} as const;
/** An identity under an id that breaks the contract; the white space before it says that this is on purpose. */
export const identityWithId = (id: string, call: string = device.call) =>
  ({
    call,
    reply: [200, ` ${JSON.stringify({ data: [{ id, identity: 'd1', path: 'd1', parentId: null }] })}`],
  }) as const;
export const edgeIdentity = {
  call: 'GET /devices?device=d1&path=edge%2Fsensor-1',
  reply: [
    200,
    { data: [{ id: sensorPrincipal, identity: 'sensor-1', path: 'd1/edge/sensor-1', parentId: devicePrincipal }] },
  ],
} as const;

export const pumpType = {
  call: 'GET /modelDefinitions/svc.device/types/pump',
  reply: [200, { model: 'svc.device', typeId: 'pump', version: '1.0.0', uniqueProperties: ['serial'] }],
} as const;

export const problem = (status: number, title: string, meta: object = {}) =>
  [status, { errors: [{ code: String(status), title, detail: 'as it is', id: pumpId, meta }] }] as const;

/** A stored pump, owned by the device unless told otherwise. */
export const pump = (more: object = {}) => ({
  ...{ objectId: pumpId, model: 'svc.device', type: 'pump@1.0.0', properties: { serial: 'FP-1' }, variables: {} },
  ...{ version: 1, ownerId: devicePrincipal, path: 'd1' },
  ...more,
});

/** A stored pump that nobody owns. */
export function unownedPump(more: object = {}) {
  const { ownerId: _owner, path: _path, ...rest } = pump(more);
  return rest;
}

/** What the information model answers to a create or an update. */
export const pumpAnswer = (more: object = {}) => ({ ...pump(more), relatedModels: [], ...more });

export const noConfiguration = (objectId: string) =>
  ({ call: `GET /objects/${objectId}/models/svc.configuration`, reply: problem(404, 'Not found') }) as const;
