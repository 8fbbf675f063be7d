import type iothub from 'azure-iothub';
import { beforeEach, describe, expect, test } from 'vitest';
import { registryClient } from './support/clients.ts';
import { deviceForEach, hubForAll } from './support/sharedHub.ts';

// Automatic configurations and edge devices, with the official client.

let deviceId = '';
let registry: iothub.Registry;
const hub = hubForAll();
deviceForEach(hub, (id) => (deviceId = id));
beforeEach(() => (registry = registryClient(hub)));

const described = (id: string, changes: object = {}) => ({
  ...{ id, targetCondition: `tags.of='${deviceId}'`, priority: 1 },
  ...{ content: { deviceContent: { 'properties.desired.cooler': { [id]: 1 } } } },
  ...changes,
});
const add = async (...given: Parameters<typeof described>) =>
  (await registry.addConfiguration(described(...given) as never)).responseBody;
const read = async (id: string) => (await registry.getConfiguration(id)).responseBody;
const tag = (of: string | null, clientId = deviceId) => hub.twins.change(clientId, { tags: { of } });
const desired = async (clientId = deviceId) => {
  await registry.getRegistryStatistics(); // what takes effect soon has done so
  const { $metadata, $version, ...values } = hub.twins.get(clientId).desired;
  return values;
};
const refusal = (code: string) => ({ responseBody: expect.stringContaining(code) });

describe('a configuration', () => {
  test('sets what it has in the twins of its condition, now and later, and counts them', async () => {
    hub.registry.create(`${deviceId}-b`);
    const added = await add(`${deviceId}-one`, {
      metrics: { queries: { cold: `SELECT deviceId FROM devices WHERE tags.of='${deviceId}'` } },
    });
    expect(added).toMatchObject({ schemaVersion: '1.0', content: described(`${deviceId}-one`).content, priority: 1 });
    expect(await desired()).toEqual({});
    tag(deviceId);
    expect([await desired(), await desired(`${deviceId}-b`)]).toEqual([{ cooler: { [`${deviceId}-one`]: 1 } }, {}]);
    expect(await read(`${deviceId}-one`)).toMatchObject({
      systemMetrics: { results: { targetedCount: 1, appliedCount: 1 } },
      metrics: { results: { cold: 1 } },
    });
    const { result } = (await registry
      .createQuery(`SELECT * FROM devices WHERE configurations.[[${deviceId}-one]].status = 'Applied'`)
      .nextAsTwin()) as never as { result: object[] };
    expect(result).toMatchObject([{ deviceId, configurations: { [`${deviceId}-one`]: { status: 'Applied' } } }]);
  });
  test('takes back what it has set from a twin that it no longer targets, and stays when it is deleted', async () => {
    tag(deviceId);
    hub.twins.change(deviceId, { properties: { desired: { own: 1 } } });
    await add(`${deviceId}-one`);
    expect(await desired()).toEqual({ own: 1, cooler: { [`${deviceId}-one`]: 1 } });
    tag(null);
    expect(await desired()).toEqual({ own: 1 });
    tag(deviceId);
    await desired();
    await registry.removeConfiguration(`${deviceId}-one`);
    expect(await desired()).toEqual({ own: 1, cooler: { [`${deviceId}-one`]: 1 } });
    await expect(read(`${deviceId}-one`)).rejects.toMatchObject(refusal('ConfigurationNotFound'));
  });
  test('gives way, place by place, to one of higher priority', async () => {
    tag(deviceId);
    const content = (value: string, ...places: string[]) => ({
      content: { deviceContent: Object.fromEntries(places.map((place) => [`properties.desired.${place}`, value])) },
    });
    await add(`${deviceId}-low`, content('low', 'a', 'b'));
    await add(`${deviceId}-high`, { ...content('high', 'b'), priority: 2 });
    await add(`${deviceId}-lowest`, { ...content('lowest', 'b'), priority: 0 });
    expect(await desired()).toEqual({ a: 'low', b: 'high' });
    const counts = async (name: string) => (await read(`${deviceId}-${name}`)).systemMetrics?.results;
    expect(await counts('high')).toEqual({ targetedCount: 1, appliedCount: 1 });
    expect(await counts('lowest')).toEqual({ targetedCount: 1, appliedCount: 0 });
    const low = await read(`${deviceId}-low`);
    await registry.updateConfiguration({ ...low, priority: 3 });
    expect(await desired()).toEqual({ a: 'low', b: 'low' });
    await expect(registry.updateConfiguration(low)).rejects.toMatchObject(refusal('PreconditionFailed'));
  });
  test('does not follow itself: what it sets does not count for its own condition at once', async () => {
    await add(`${deviceId}-one`, {
      targetCondition: `deviceId='${deviceId}' AND NOT IS_DEFINED(properties.desired.cooler)`,
    });
    expect(await desired()).toEqual({ cooler: { [`${deviceId}-one`]: 1 } });
  });
  test('of modules, and one for nobody', async () => {
    hub.registry.create(deviceId, { moduleId: 'm' });
    const content = { moduleContent: { 'properties.desired': { prop1: 'foo' } } };
    await add(`${deviceId}-none`, { content, targetCondition: '' });
    expect(await desired(`${deviceId}/m`)).toEqual({});
    await add(`${deviceId}-m`, { content, targetCondition: `from devices.modules where deviceId='${deviceId}'` });
    expect([await desired(`${deviceId}/m`), await desired()]).toEqual([{ prop1: 'foo' }, {}]);
    const listed = (await registry.getConfigurations()).responseBody.map(({ id }) => id);
    expect(listed).toEqual(expect.arrayContaining([`${deviceId}-none`, `${deviceId}-m`]));
  });
  test.each([
    ['InvalidConfigurationTargetCondition', { targetCondition: 'tags.a LIKE 1' }],
    ['InvalidConfigurationTargetCondition', { targetCondition: "from devices.modules where moduleId='m'" }],
    ['InvalidConfigurationContent', { content: {} }],
    ['InvalidConfigurationContent', { content: { deviceContent: { 'properties.reported.a': 1 } } }],
    ['InvalidConfigurationCustomMetricsQuery', { metrics: { queries: { a: 'SELECT' } } }],
    ['ArgumentInvalid', { priority: -1 }],
    ['ArgumentInvalid', { id: 'UPPER' }],
  ])('is refused with %s: %o', async (code, changes) => {
    await expect(add(`${deviceId}-x`, changes)).rejects.toMatchObject(refusal(code));
  });
  test('has one id, and the content that it was created with', async () => {
    await add(`${deviceId}-one`);
    await expect(add(`${deviceId}-one`)).rejects.toMatchObject(refusal('ConfigurationAlreadyExists'));
    const other = described(`${deviceId}-one`, { content: { deviceContent: { 'properties.desired': {} } } });
    await expect(registry.updateConfiguration(other as never, true)).rejects.toMatchObject(
      refusal('CannotModifyImmutableConfigurationContent'),
    );
  });
});

describe('an edge device', () => {
  type Placed = iothub.Device & { deviceScope?: string; parentScopes?: string[] };
  const create = async (settings: object) => (await registry.create(settings as never)).responseBody as Placed;
  const edge = (deviceId: string, changes: object = {}) =>
    create({ deviceId, capabilities: { iotEdge: true }, ...changes });

  test('has a scope, by which others are behind it', async () => {
    const root = await edge(`${deviceId}-root`);
    expect(root.deviceScope).toMatch(new RegExp(`^ms-azure-iot-edge://${deviceId}-root-\\d+$`));
    const child = await edge(`${deviceId}-child`, { parentScopes: [root.deviceScope] });
    expect(child.parentScopes).toEqual([root.deviceScope]);
    const leaf = await create({ deviceId: `${deviceId}-leaf`, deviceScope: child.deviceScope });
    expect(leaf).toMatchObject({ deviceScope: child.deviceScope, parentScopes: [child.deviceScope] });
    await expect(registry.update({ ...leaf, deviceScope: 'elsewhere' } as Placed)).rejects.toMatchObject(
      refusal('InvalidDeviceScope'),
    );
    await registry.update({ ...leaf, deviceScope: '', parentScopes: [] } as never);
    expect((await registry.get(`${deviceId}-leaf`)).responseBody).not.toHaveProperty('deviceScope');
  });
  test('runs the modules of a deployment', async () => {
    await edge(`${deviceId}-edge`);
    const content = {
      modulesContent: {
        $edgeAgent: { 'properties.desired': { modules: { filter: { version: '1' } } } },
        filter: { 'properties.desired': { level: 3 } },
      },
    };
    await registry.applyConfigurationContentOnDevice(`${deviceId}-edge`, content);
    const { responseBody: modules } = await registry.getModulesOnDevice(`${deviceId}-edge`);
    expect(modules.map(({ moduleId }) => moduleId)).toEqual(['$edgeAgent', '$edgeHub', 'filter']);
    expect(await desired(`${deviceId}-edge/filter`)).toEqual({ level: 3 });
    await expect(registry.applyConfigurationContentOnDevice(deviceId, content)).rejects.toMatchObject(
      refusal('InvalidConfigurationContent'),
    );
  });
});
