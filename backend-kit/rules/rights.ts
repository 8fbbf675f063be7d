import { randomUUID } from 'node:crypto';
import { at, expect, listOf } from '../expect.ts';
import { encoded, model, modelAt, referencesOf } from '../kit.ts';
import { query } from './lookUps.ts';
import { must, type Rule } from './rule.ts';

const tenants = 'Tenants see, or change, each other’s objects.';
const devices = 'Devices of a tenant see, or change, each other’s objects.';

/** Who may do what: devices, tenants, applications. */
export const rightRules: Rule[] = [
  must(
    'im.tenant.read',
    'An object model of another tenant is 404, and so are its references.',
    tenants,
  )(async (kit) => {
    const device = kit.option('other-tenant-device');
    const { at: place } = await kit.made();
    expect(await kit.im('GET', place, { device }), 404);
    expect(await kit.im('GET', referencesOf(place), { device }), 404);
  }),
  must(
    'im.tenant.write',
    'Another tenant’s update, claim and references are 404, and change nothing.',
    tenants,
  )(async (kit) => {
    const device = kit.option('other-tenant-device');
    const { at: place, objectId, serial } = await kit.made();
    const body = { type: `${kit.run}-machine`, version: 1, properties: { serial, plant: kit.run, label: 'theirs' } };
    expect(await kit.im('PUT', place, { device, body }), 404);
    expect(await kit.im('PUT', `${place}/owner`, { device, body: { ownerId: await kit.owner() } }), 404);
    const references = [{ name: 'feeds', to: { objectId, model } }];
    expect(await kit.im('POST', referencesOf(place), { device, body: references }), 404);
    expect(await kit.im('GET', referencesOf(place)), 200, { data: listOf(0) });
    expect(await kit.im('GET', place), 200, { version: 1 });
  }),
  must(
    'im.tenant.query',
    'Another tenant’s look-up does not find it.',
    tenants,
  )(async (kit) => {
    const { serial } = await kit.made();
    const answer = await query(kit, { serial, plant: kit.run }, kit.option('other-tenant-device'));
    expect(answer, 200, { data: listOf(0) });
  }),
  must(
    'im.device.read',
    'An object model of another device of the tenant is 403, and so are its references.',
    devices,
  )(async (kit) => {
    const device = kit.option('other-device');
    const { at: place } = await kit.made();
    expect(await kit.im('GET', place, { device }), 403);
    expect(await kit.im('GET', referencesOf(place), { device }), 403);
  }),
  must(
    'im.device.write',
    'Another device’s update and references are 403, and change nothing.',
    devices,
  )(async (kit) => {
    const device = kit.option('other-device');
    const { at: place, objectId, serial } = await kit.made();
    const body = { type: `${kit.run}-machine`, version: 1, properties: { serial, plant: kit.run, label: 'theirs' } };
    expect(await kit.im('PUT', place, { device, body }), 403);
    const references = [{ name: 'feeds', to: { objectId, model } }];
    expect(await kit.im('POST', referencesOf(place), { device, body: references }), 403);
    expect(await kit.im('GET', referencesOf(place)), 200, { data: listOf(0) });
    expect(await kit.im('GET', place), 200, { version: 1 });
  }),
  must(
    'im.device.query',
    'Another device’s look-up does not find it.',
    devices,
  )(async (kit) => {
    const { serial } = await kit.made();
    expect(await query(kit, { serial, plant: kit.run }, kit.option('other-device')), 200, { data: listOf(0) });
  }),
  must(
    'im.device.owner',
    'A create for the identity of another device is refused with 403.',
    devices,
  )(async (kit) => {
    expect((await kit.post({}, {}, { device: kit.option('other-device') })).answer, 403);
  }),
  must(
    'im.device.unique',
    'A create with the unique values of another device’s object is refused with 403, without `meta`.',
    'Devices learn ids of objects that are not theirs, or become a second machine.',
  )(async (kit) => {
    const { serial } = await kit.made();
    const device = kit.option('other-device');
    const found = await kit.pm('GET', `/devices?device=${encoded(device)}`, { device });
    const properties = { serial, plant: kit.run };
    const body = { objectId: randomUUID(), model, type: `${kit.run}-machine@2.0.0`, properties };
    const answer = await kit.im('POST', `/object?owner=${encoded(String(at(found, 'data.0.id')))}`, { device, body });
    expect(answer, 403, { 'errors.0.meta': {} });
  }),
  must(
    'im.caller.read',
    'A caller’s token reads without `x-svc-device-id`, also with `x-svc-operation: invoke`.',
    'No application can invoke methods.',
  )(async (kit) => {
    const token = kit.option('caller-token');
    const { at: place } = await kit.made();
    expect(await kit.im('GET', place, { token, device: null }), 200, {
      path: kit.given.device,
      type: `${kit.run}-machine@2.0.0`,
    });
    expect(await kit.im('GET', place, { token, device: null, headers: { 'x-svc-operation': 'invoke' } }), 200);
  }),
  must(
    'im.caller.unknown',
    'A caller gets 404 for an unknown object.',
    'Applications get 502 for a wrong id.',
  )(async (kit) => {
    const token = kit.option('caller-token');
    expect(await kit.im('GET', modelAt(randomUUID()), { token, device: null }), 404);
  }),
  must(
    'im.caller.write',
    'A caller’s token changes nothing: 403.',
    'Applications write past the service.',
  )(async (kit) => {
    const { at: place, serial } = await kit.made();
    const body = { type: `${kit.run}-machine`, version: 1, properties: { serial, plant: kit.run } };
    expect(await kit.im('PUT', place, { token: kit.option('caller-token'), device: null, body }), 403);
  }),
  must(
    'im.caller.device',
    'A caller’s token with `x-svc-device-id` is refused with 403.',
    'Applications speak for devices.',
  )(async (kit) => {
    const { at: place } = await kit.made();
    expect(await kit.im('GET', place, { token: kit.option('caller-token') }), 403);
  }),
  must(
    'im.caller.invoke',
    'A token that may read and not invoke: 200, and 403 with `x-svc-operation: invoke`.',
    'All who may read may invoke.',
  )(async (kit) => {
    const token = kit.option('reader-token');
    const { at: place } = await kit.made();
    expect(await kit.im('GET', place, { token, device: null }), 200);
    expect(await kit.im('GET', place, { token, device: null, headers: { 'x-svc-operation': 'invoke' } }), 403);
  }),
];
