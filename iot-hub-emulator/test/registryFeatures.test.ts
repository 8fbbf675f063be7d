import type iothub from 'azure-iothub';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseJson } from '../src/values/json.ts';
import { serviceToken } from './support/bare.ts';
import { askRest, called, nameOfError, registryClient } from './support/clients.ts';
import { connectedDevice } from './support/device.ts';
import { hubForAll } from './support/sharedHub.ts';

// What people use the official registry client for.

let registry: iothub.Registry;
let deviceId = '';
let count = 0;
const hub = hubForAll();
beforeAll(() => (registry = registryClient(hub)));
beforeEach(() => (deviceId = `pump-${count++}`));

const ask = (method: string, path: string) =>
  askRest(hub, method, path, { headers: { authorization: serviceToken(hub, 'iothubowner') } });

const settings = (changes: object = {}) => ({ deviceId, ...changes }) as iothub.Device;

describe('the registry client', () => {
  test('creates a device that logs in with either key', async () => {
    const { responseBody } = await registry.create(settings());
    expect(responseBody).toMatchObject({
      ...{ deviceId, status: 'enabled', connectionState: 'Disconnected' },
      authentication: { type: 'sas', symmetricKey: { primaryKey: hub.registry.get(deviceId)?.primaryKey } },
    });
    await connectedDevice(hub, deviceId);
    expect((await registry.get(deviceId)).responseBody.connectionState).toBe('Connected');
  });
  test('creates a disabled device with given keys', async () => {
    const [primaryKey, secondaryKey] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')];
    const authentication = { symmetricKey: { primaryKey, secondaryKey } };
    await registry.create(settings({ authentication, status: 'disabled', statusReason: 'in repair' }));
    expect((await registry.get(deviceId)).responseBody).toMatchObject({
      authentication: { symmetricKey: { primaryKey, secondaryKey } },
      status: 'disabled',
      statusReason: 'in repair',
    });
    await expect(connectedDevice(hub, deviceId)).rejects.toThrow('The hub answered 5');
  });
  test('reads and deletes devices whose ids have unusual characters', async () => {
    deviceId = "odd-.%_*?!(),:=@$'";
    await registry.create(settings());
    expect((await registry.get(deviceId)).responseBody.deviceId).toBe(deviceId);
  });
  test('gets not-found for an unknown device', async () => {
    expect(await nameOfError(registry.get('nobody'))).toBe('DeviceNotFoundError');
    expect(await nameOfError(registry.update(settings({ deviceId: 'nobody' })))).toBe('DeviceNotFoundError');
    expect(await nameOfError(registry.delete('nobody'))).toBe('DeviceNotFoundError');
  });
  test('lists devices', async () => {
    await registry.create(settings());
    const { responseBody } = await registry.list();
    expect(responseBody.map((device) => device.deviceId)).toEqual(hub.registry.list().map((device) => device.deviceId));
  });
  test('renews the keys of a device', async () => {
    await registry.create(settings());
    const primaryKey = Buffer.alloc(32, 3).toString('base64');
    await registry.update(settings({ authentication: { symmetricKey: { primaryKey, secondaryKey: '' } } }));
    expect(hub.registry.get(deviceId)?.primaryKey).toBe(primaryKey);
  });
  test('adds, updates, lists and removes modules', async () => {
    await registry.create(settings());
    await registry.addModule({ deviceId, moduleId: 'm1', managedBy: 'somebody' } as iothub.Module);
    await registry.addModule({ deviceId, moduleId: 'm2' } as iothub.Module);
    const { responseBody: modules } = await registry.getModulesOnDevice(deviceId);
    expect(modules.map(({ moduleId }) => moduleId)).toEqual(['m1', 'm2']);
    const { responseBody: module } = await registry.getModule(deviceId, 'm1');
    expect(module).toMatchObject({ deviceId, moduleId: 'm1', managedBy: 'somebody' });
    await registry.updateModule({ ...module, managedBy: 'somebody else' } as iothub.Module);
    expect(hub.registry.get(`${deviceId}/m1`)?.managedBy).toBe('somebody else');
    // it is at another version by now
    const stale = called((done) => registry.removeModule(module as iothub.Module, done));
    expect(await nameOfError(stale)).toBe('InvalidEtagError');
    await registry.removeModule(deviceId, 'm1');
    expect(hub.registry.modules(deviceId).map(({ moduleId }) => moduleId)).toEqual(['m2']);
  });
  test('creates, updates and deletes many at once', async () => {
    const ids = ['a', 'b', 'c'].map((name) => `${deviceId}-${name}`);
    const devices = ids.map((id) => ({ deviceId: id, status: 'enabled' })) as iothub.Device[];
    await registry.addDevices(devices);
    await registry.updateDevices(devices.map((device) => ({ ...device, status: 'disabled' })) as never, true);
    expect(ids.map((id) => hub.registry.get(id)?.status)).toEqual(['disabled', 'disabled', 'disabled']);
    await registry.removeDevices(devices, true);
    expect(ids.map((id) => hub.registry.get(id))).toEqual([undefined, undefined, undefined]);
  });
  test('updates and deletes many only if their etags match', async () => {
    const seen = hub.registry.create(deviceId);
    const known = { deviceId, etag: seen.etag, status: 'disabled' } as iothub.Device;
    await registry.updateDevices([known], false);
    const etag = expect.not.stringContaining(seen.etag);
    expect(hub.registry.get(deviceId)).toMatchObject({ status: 'disabled', etag });
    const stale = { responseBody: expect.stringContaining('another version') };
    await expect(registry.updateDevices([{ ...known, status: 'enabled' }], false)).rejects.toMatchObject(stale);
    await expect(registry.removeDevices([known], false)).rejects.toMatchObject(stale);
    expect(hub.registry.get(deviceId)).toMatchObject({ status: 'disabled' });
  });
  test('gets the errors of those that failed, while the others are created', async () => {
    const ids = ['a', 'b'].map((name) => `${deviceId}-${name}`);
    hub.registry.create(ids[0] ?? '');
    const attempt = registry.addDevices(ids.map((id) => ({ deviceId: id, status: 'enabled' })) as iothub.Device[]);
    await expect(attempt).rejects.toMatchObject({ responseBody: expect.stringContaining('DeviceAlreadyExists') });
    expect(hub.registry.get(ids[1] ?? '')).toBeDefined();
  });
  test.each([
    ['authentication type \\"none', { authentication: { type: 'none' } }],
    ['tags', { tags: { site: 1 } }],
  ])('gets an error that names what the hub does not imitate: %s', async (name, asked) => {
    const refusal = { name: 'ArgumentError', responseBody: expect.stringContaining(name) };
    await expect(registry.create(settings(asked))).rejects.toMatchObject(refusal);
    expect(hub.registry.get(deviceId)).toBeUndefined();
    await registry.create(settings());
    await expect(registry.update(settings(asked))).rejects.toMatchObject(refusal);
    const many = registry.addDevices([{ deviceId: `${deviceId}-b`, status: 'enabled', ...asked } as iothub.Device]);
    await expect(many).rejects.toMatchObject({ responseBody: expect.stringContaining(name) });
    expect(hub.registry.get(`${deviceId}-b`)).toBeUndefined();
  });
  test('may send empty values for features that the hub does not imitate', async () => {
    await registry.create(settings({ capabilities: { iotEdge: false }, deviceScope: '' }));
    const { responseBody } = await registry.get(deviceId);
    await registry.update(responseBody); // as it came
  });
  test('with the right to read only cannot create devices', async () => {
    await registry.create(settings());
    const reader = registryClient(hub, 'registryRead');
    expect((await reader.get(deviceId)).responseBody.deviceId).toBe(deviceId);
    expect(await nameOfError(reader.delete(deviceId))).toBe('UnauthorizedError');
    expect(await nameOfError(registryClient(hub, 'service').get(deviceId))).toBe('UnauthorizedError');
  });
});

describe('a twin', () => {
  let owner: iothub.Registry;
  beforeEach(() => {
    owner = registryClient(hub, 'iothubowner');
    hub.registry.create(deviceId);
  });
  test('has tags and desired properties, which a service changes by merging', async () => {
    const first = { tags: { site: { hall: 1 } }, properties: { desired: { a: 1, b: { c: 2 } } } };
    await owner.updateTwin(deviceId, first, '*');
    const second = { tags: { site: { row: 2 } }, properties: { desired: { a: null, b: { d: 3 } } } };
    const { responseBody } = await owner.updateTwin(deviceId, second, '*');
    expect(responseBody.tags).toEqual({ site: { hall: 1, row: 2 } });
    expect(responseBody.properties.desired).toMatchObject({ b: { c: 2, d: 3 }, $version: 3 });
    expect(responseBody.properties.desired['a']).toBeUndefined();
    expect(responseBody.properties.desired.$metadata['b']['d'].$lastUpdatedVersion).toBe(3);
  });
  test('has the creation time of each section from the start', async () => {
    const { responseBody: twin } = await owner.getTwin(deviceId);
    const $lastUpdated = hub.registry.get(deviceId)?.createdAt;
    for (const section of [twin.properties.desired, twin.properties.reported])
      expect(section).toEqual({ $version: 1, $metadata: { $lastUpdated } });
  });
  test.each([
    [{ desired: { speed: 1 } }, 'desired'],
    [{ properties: { desired: {}, wanted: {} } }, 'properties.wanted'],
    [{ Tags: {}, tagz: {} }, 'Tags, tagz'],
  ])('is not changed by a patch with what no twin has: %j', async (patch, names) => {
    const refused = owner.updateTwin(deviceId, { tags: { a: 1 }, ...patch }, '*');
    await expect(refused).rejects.toMatchObject({ responseBody: expect.stringContaining(`A twin has no ${names}.`) });
    expect(hub.twins.get(deviceId).tags).toEqual({});
  });
  test('is sent back whole, as it was read, with numbers as they were written', async () => {
    hub.twins.change(deviceId, { properties: { desired: parseJson('{"speed": 1.0}') } });
    const { responseBody: twin } = await owner.getTwin(deviceId);
    const { _registry, ...whole } = twin as unknown as Record<string, unknown>;
    const read = await ask('GET', `/twins/${deviceId}?api-version=2021-04-12`);
    expect(read).toMatchObject({ status: 200, body: expect.stringContaining('"speed":1.0') });
    await owner.updateTwin(deviceId, { ...whole, tags: { a: 1 } }, '*');
    expect(hub.twins.get(deviceId).tags).toEqual({ a: 1 });
  });
});

test.each(['', '?api-version=', '?api-version=2021-04', '?api-version=2099-01-01', '?api-version=2014-12-31'])(
  'a request with a version of the interface that is none is refused: %j',
  async (search) =>
    expect(await ask('GET', `/devices${search}`)).toMatchObject({
      status: 400,
      body: expect.stringContaining('ErrorCode:InvalidProtocolVersion;'),
    }),
);
test.each(['2016-02-03', '2018-08-30-preview'])('an older version is served: %s', async (version) =>
  expect((await ask('GET', `/devices?api-version=${version}`)).status).toBe(200),
);

test('an unknown address is answered with 404, and no error contains a token', async () => {
  const { status, body } = await ask('GET', '/nothing?api-version=2021-04-12');
  expect(status).toBe(404);
  expect(body).not.toContain('SharedAccessSignature');
});

describe('a fault of REST', () => {
  const failing = async (fault: Parameters<typeof hub.faults.add>[0]) => {
    const id = hub.faults.add(fault);
    const { response, ...error } = await registry.list().then(
      () => ({ name: 'none', code: '', response: undefined }),
      (error) => ({ name: error.constructor.name, code: error.code, response: error.response }),
    );
    hub.faults.clear(id);
    return { ...error, status: response?.statusCode };
  };

  test('answers with the requested status and code', async () => {
    const fault = { kind: 'rest', answer: 'status', status: 503, code: 'ServiceUnavailable' } as const;
    const failed = await failing({ ...fault, path: '/devices' });
    expect(failed).toMatchObject({ name: 'ServiceUnavailableError', status: 503 });
    await registry.list();
  });
  test('breaks the connection', async () =>
    expect(await failing({ kind: 'rest', answer: 'reset', method: 'GET' })).toMatchObject({ code: 'ECONNRESET' }));
  test('delays the answer', async () => {
    hub.registry.create(deviceId);
    hub.faults.add({ kind: 'rest', answer: 'delay', ms: 500, times: 1, path: `/devices/${deviceId}` });
    const answered: string[] = [];
    const slow = registry.get(deviceId).then(() => answered.push('the first'));
    await registry.getRegistryStatistics();
    answered.push('the second');
    await slow;
    expect(answered).toEqual(['the second', 'the first']);
  });
  test('sends no answer', async () => {
    hub.registry.create(deviceId);
    const id = hub.faults.add({ kind: 'rest', answer: 'silent', path: `/devices/${deviceId}` });
    const silent = registry.get(deviceId);
    await registry.getRegistryStatistics(); // while the other waits
    expect(await Promise.race([silent, Promise.resolve('nothing yet')])).toBe('nothing yet');
    hub.faults.clear(id);
  });
});

test.each([
  ['POST', '/jobs/create', 'the import and export of devices'],
  ['GET', '/messages/serviceBound/feedback', 'feedback over HTTPS'],
  ['GET', '/digitaltwins/d-1', 'digital twins'],
  ['PUT', '/0ne0000/registrations/d-1/register', 'the provisioning of devices'],
  ['PUT', '/enrollments/e-1', 'the provisioning of devices'],
])('%s %s is refused by name: %s', async (method, path, name) => {
  const { status, body } = await askRest(hub, method, `${path}?api-version=2021-04-12`);
  expect(status).toBe(501);
  expect(body).toContain(`ErrorCode:NotImplemented;This hub does not imitate ${name}.`);
});
