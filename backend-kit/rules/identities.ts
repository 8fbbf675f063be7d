import { randomUUID } from 'node:crypto';
import type { Answer } from '../client.ts';
import { aGuid, Broken, equalId, expect, listOf, NotTried } from '../expect.ts';
import { encoded, type Kit } from '../kit.ts';
import { dead, must, nice, type Rule, should } from './rule.ts';

const others = 'A device reaches identities that are not below it.';

const resolve = (kit: Kit, more: Readonly<Record<string, string>> = {}, device = kit.given.device) =>
  kit.pm(
    'GET',
    `/devices?device=${encoded(device)}${Object.entries(more)
      .map(([name, value]) => `&${name}=${encoded(value)}`)
      .join('')}`,
  );

/** @throws Broken unless it is refused so, or nothing is found */
function none(answer: Answer, status: number): void {
  if (answer.status !== status) expect(answer, 200, { data: listOf(0) });
}

/** The query that finds the identity that may be changed. */
async function named(kit: Kit) {
  const { path, identity } = await kit.expendable();
  return { ...(path !== '' && { path }), identity };
}

/** Identities: to resolve, to update, to delete. The deletion comes last. */
export const identityRules: Rule[] = [
  must(
    'pm.resolve.device',
    '`GET /devices?device=` answers the device itself: `{"data":[{id, identity, path, parentId}]}`.',
    `${dead} No device creates anything.`,
  )(async (kit) => {
    const device = kit.given.device;
    expect(await resolve(kit), 200, {
      data: listOf(1),
      'data.0.id': aGuid,
      'data.0.identity': device,
      'data.0.path': device,
    });
  }),
  nice(
    'pm.resolve.parent',
    '`parentId` of a device is null.',
    'The service does not read it.',
  )(async (kit) => expect(await resolve(kit), 200, { 'data.0.parentId': null })),
  must(
    'pm.resolve.unknown',
    'An identity that does not exist: 200 and an empty list, also along a path.',
    'The device gets an error of the backend instead of `http_response_error` that names the identity.',
  )(async (kit) => {
    expect(await resolve(kit, { identity: `${kit.run}-none` }), 200, { data: listOf(0) });
    expect(await resolve(kit, { path: `${kit.run}-none/child` }), 200, { data: listOf(0) });
  }),
  must(
    'pm.resolve.other',
    'Another device than the calling one is refused with 403, or not found.',
    others,
  )(async (kit) => {
    none(await kit.pm('GET', `/devices?device=${encoded(kit.option('other-device'))}`), 403);
  }),
  must(
    'pm.resolve.segments',
    '`..`, `.` and an empty segment in `path` are refused with 400, or lead nowhere.',
    others,
  )(async (kit) => {
    for (const path of ['..', 'a/../b', '.', './', 'a//b']) none(await resolve(kit, { path }), 400);
  }),
  must(
    'pm.resolve.child',
    'An identity below the device is found by `path` and `identity`; its `path` begins with the device.',
    'Identities below devices own nothing, and cannot be updated.',
  )(async (kit) => {
    const whole = kit.option('expendable-identity');
    const names = whole.split('/');
    const identity = names.pop() ?? '';
    const query = { ...(names.length > 0 && { path: names.join('/') }), identity };
    const members = { data: listOf(1), 'data.0.id': aGuid, 'data.0.identity': identity };
    expect(await resolve(kit, query), 200, { ...members, 'data.0.path': `${kit.given.device}/${whole}` });
  }),
  must(
    'pm.resolve.path',
    'The same one is found by its whole `path` alone.',
    'Owners that are named by a path are not found.',
  )(async (kit) => {
    const { whole, id } = await kit.expendable();
    expect(await resolve(kit, { path: whole }), 200, { data: listOf(1), 'data.0.id': equalId(id) });
  }),
  must(
    'pm.resolve.one-name',
    '`identity` is one name, never split: `a/b`, `..` and an empty one reach no identity.',
    others,
  )(async (kit) => {
    const { whole } = await kit.expendable();
    for (const query of [
      { identity: `x/../${whole}` },
      { path: whole, identity: '..' },
      { identity: `${whole}/` },
      { identity: '' },
      ...(whole.includes('/') ? [{ identity: whole }] : []),
    ]) {
      none(await resolve(kit, query), 400);
    }
  }),
  must(
    'pm.update',
    '`PUT /devices/{id}` answers 200 or 204.',
    'Devices cannot give their keys.',
  )(async (kit) =>
    expect(await kit.pm('PUT', `/devices/${(await kit.expendable()).id}`, { body: { publicKey: 'kit' } }), [200, 204]),
  ),
  should(
    'pm.update.key',
    '`publicKey` is never returned.',
    'Keys are read by all that resolve the identity.',
  )(async (kit) => {
    const answer = await kit.pm('PUT', `/devices/${(await kit.expendable()).id}`, {
      body: { publicKey: `${kit.run}-key` },
    });
    for (const one of [answer, await resolve(kit, await named(kit))])
      if (one.text.includes(`${kit.run}-key`)) throw new Broken('the key is returned', one);
  }),
  must(
    'pm.update.own-name',
    'A body with the stored name in `identity` is taken.',
    'The body of a device is passed on whole: no update succeeds.',
  )(async (kit) => {
    const body = { identity: (await kit.expendable()).identity, publicKey: 'kit' };
    expect(await kit.pm('PUT', `/devices/${(await kit.expendable()).id}`, { body }), [200, 204]);
  }),
  must(
    'pm.update.renamed',
    'An identity is never renamed: another name is refused with 400.',
    'Owners of objects have a path that leads nowhere.',
  )(async (kit) => {
    const { id } = await kit.expendable();
    expect(await kit.pm('PUT', `/devices/${id}`, { body: { identity: `${kit.run}-renamed` } }), 400);
    expect(await resolve(kit, await named(kit)), 200, { data: listOf(1) });
  }),
  should(
    'pm.update.read-only',
    '`id`, `path`, `parentId` are refused with 400.',
    others,
  )(async (kit) => {
    const { id } = await kit.expendable();
    expect(await kit.pm('PUT', `/devices/${id}`, { body: { path: `${kit.given.device}/elsewhere` } }), 400);
    expect(await kit.pm('PUT', `/devices/${id}`, { body: { parentId: randomUUID() } }), 400);
  }),
  must(
    'pm.update.unknown',
    'An unknown identity is 404, to update and to delete.',
    'A deletion whose answer was lost is never known to have succeeded.',
  )(async (kit) => {
    expect(await kit.pm('PUT', `/devices/${randomUUID()}`, { body: {} }), 404);
    expect(await kit.pm('DELETE', `/devices/${randomUUID()}`), 404);
  }),
  must(
    'pm.update.other',
    'An identity of another device is 403.',
    others,
  )(async (kit) => {
    const device = kit.option('other-device');
    expect(await kit.pm('PUT', `/devices/${await kit.owner()}`, { device, body: {} }), 403);
  }),
  must(
    'pm.update.tenant',
    'An identity of another tenant is 404.',
    'Tenants change each other’s identities.',
  )(async (kit) => {
    const device = kit.option('other-tenant-device');
    expect(await kit.pm('PUT', `/devices/${await kit.owner()}`, { device, body: {} }), 404);
  }),
  must(
    'pm.delete',
    '`DELETE /devices/{id}` answers 200 or 204, and the identity is gone: an empty list, and 404.',
    'A device that was removed keeps its rights.',
  )(async (kit) => {
    const { id, whole } = await kit.expendable();
    const key = randomUUID();
    expect(await kit.pm('DELETE', `/devices/${id}`, { key }), [200, 204]);
    kit.spent.add(`--expendable-identity ${whole}`);
    deleted.set(kit, { id, key });
    expect(await resolve(kit, await named(kit)), 200, { data: listOf(0) });
    expect(await kit.pm('DELETE', `/devices/${id}`), 404);
  }),
  should(
    'pm.repeat',
    'A deletion that is repeated with its `idempotency-key` is answered as it was.',
    'The service takes a 404 after a lost answer for its own success, and cannot tell.',
  )(async (kit) => {
    kit.option('expendable-identity');
    const done = deleted.get(kit);
    if (done === undefined) throw new NotTried('pm.delete does not hold');
    expect(await kit.pm('DELETE', `/devices/${done.id}`, { key: done.key }), [200, 204]);
  }),
];

const deleted = new WeakMap<Kit, { readonly id: string; readonly key: string }>();
