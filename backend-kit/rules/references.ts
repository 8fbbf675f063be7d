import { randomUUID } from 'node:crypto';
import {
  at,
  Broken,
  bigInteger,
  dataOf,
  equalId,
  expect,
  type Kit,
  listOf,
  model,
  modelAt,
  rackReferences,
  referencesOf,
  says,
} from '../kit.ts';
import { must, type Rule, should } from './rule.ts';

const unread = 'Children and parents of devices are not found: SyncModel sends too little.';
const unbounded = 'A mistake of a device is stored, or repeated as if the backend were down.';

/** Two object models, and what writes references from the first. */
async function pair(kit: Kit) {
  const [source, target] = [await kit.made(), await kit.made()];
  const to = { objectId: target.objectId, model };
  const place = referencesOf(source.at);
  const write = (...references: readonly object[]) => kit.im('POST', place, { body: references });
  return { source, target, to, write, read: () => kit.im('GET', place) };
}

/** Outgoing references: two names to one target are two, as are two targets of one name (A13). */
export const referenceRules: Rule[] = [
  must(
    'im.references',
    'New references are answered with 201, and listed: `{"data":[{name, to, attributes}]}`.',
    unread,
  )(async (kit) => {
    const { write, to } = await pair(kit);
    const members = { data: listOf(1), 'data.0.name': 'contains', 'data.0.to.model': model };
    expect(await write({ name: 'contains', to }), [201], {
      ...members,
      'data.0.to.objectId': equalId(to.objectId),
      'data.0.attributes': {},
    });
  }),
  should(
    'im.references.existing',
    'References that were all there are answered with 200.',
    'Nobody sees whether a reference is new; the service takes both.',
  )(async (kit) => {
    const { write, to } = await pair(kit);
    await write({ name: 'contains', to });
    expect(await write({ name: 'contains', to }), 200);
  }),
  must(
    'im.references.read',
    'They are read as they were written.',
    unread,
  )(async (kit) => {
    const { write, read, to } = await pair(kit);
    await write({ name: 'contains', to, attributes: { isContained: true } });
    const members = {
      data: listOf(1),
      'data.0.name': 'contains',
      'data.0.to.objectId': equalId(to.objectId),
      'data.0.to.model': model,
    };
    expect(await read(), 200, { ...members, 'data.0.attributes': { isContained: true } });
  }),
  must(
    'im.references.none',
    'An object model without references: 200 and an empty list.',
    'Objects without children end SyncModel with an error.',
  )(async (kit) => {
    const { read } = await pair(kit);
    expect(await read(), 200, { data: listOf(0) });
  }),
  should(
    'im.references.bytes',
    'Attributes come back as the characters that were sent.',
    'The guarantee that bytes are passed through ends at the backend.',
  )(async (kit) => {
    const { source, read, to } = await pair(kit);
    const attributes = `{"z":${bigInteger},"a":1.0}`;
    const body = `[{"name":"contains","to":${JSON.stringify(to)},"attributes":${attributes}}]`;
    await kit.im('POST', referencesOf(source.at), { body });
    says(await read(), attributes);
  }),
  must(
    'im.references.attributes',
    'A reference that exists gets the attributes that are sent; without any, its own stay.',
    'A reference loses that it leads to the parent, or is contained.',
  )(async (kit) => {
    const { write, read, to } = await pair(kit);
    await write({ name: 'contains', to, attributes: { isContained: false } });
    await write({ name: 'contains', to, attributes: { isContained: true } });
    expect(await read(), 200, { data: listOf(1), 'data.0.attributes': { isContained: true } });
    await write({ name: 'contains', to });
    expect(await read(), 200, { data: listOf(1), 'data.0.attributes': { isContained: true } });
  }),
  must(
    'im.references.identity',
    'A reference is identified by its name and its target.',
    'One reference takes the place of another, or is there twice.',
  )(async (kit) => {
    const { write, read, to } = await pair(kit);
    const other = { objectId: (await kit.made()).objectId, model };
    await write({ name: 'contains', to }, { name: 'feeds', to }, { name: 'contains', to: other });
    await write({ name: 'contains', to });
    expect(await read(), 200, { data: listOf(3) });
  }),
  should(
    'im.references.order',
    'References are listed in order of creation.',
    'SyncModel sends children in another order each time.',
  )(async (kit) => {
    const { write, read, to } = await pair(kit);
    const other = { objectId: (await kit.made()).objectId, model };
    await write({ name: 'feeds', to });
    await write({ name: 'contains', to: other });
    await write({ name: 'contains', to });
    await write({ name: 'feeds', to, attributes: { seen: true } });
    const names = dataOf(await read()).map(
      (reference) => `${Object(reference).name} ${Object(reference).to?.objectId}`,
    );
    const wanted = [`feeds ${to.objectId}`, `contains ${other.objectId}`, `contains ${to.objectId}`];
    if (names.join() !== wanted.join()) throw new Broken('the references are not in order of creation');
  }),
  should(
    'im.references.undeclared',
    'A name that the type does not declare is refused with 400.',
    unbounded,
  )(async (kit) => {
    const { write, to } = await pair(kit);
    expect(await write({ name: 'undeclared', to }), 400);
  }),
  must(
    'im.references.target',
    'A target that does not exist is 404.',
    'References that lead nowhere; a child before its parent succeeds.',
  )(async (kit) => {
    const { write } = await pair(kit);
    expect(await write({ name: 'contains', to: { objectId: randomUUID(), model } }), 404);
  }),
  must(
    'im.references.parent',
    'With the attribute `isParent` the name is declared by the type of the target.',
    'Devices with a parent cannot be created (V1).',
  )(async (kit) => {
    const { target } = await pair(kit);
    const { objectId } = await kit.made({ serial: undefined, plant: undefined }, { type: `${kit.run}-rack@1.0.0` });
    const body = [{ name: 'contains', to: { objectId: target.objectId, model }, attributes: { isParent: true } }];
    expect(await kit.im('POST', referencesOf(modelAt(objectId)), { body }), 201);
  }),
  should(
    'im.references.all',
    'All references of a request are written, or none.',
    'A request that failed leaves half of its references.',
  )(async (kit) => {
    const { write, read, to } = await pair(kit);
    await write({ name: 'contains', to }, { name: 'undeclared', to });
    expect(await read(), 200, { data: listOf(0) });
  }),
  must(
    'im.references.many',
    '150 references are answered at once: there are no pages.',
    'The service reads one answer: further children are not found.',
  )(async (kit) => {
    const [rack, target] = [{ type: `${kit.run}-rack@1.0.0` }, await kit.made()];
    const { objectId } = await kit.made({ serial: undefined, plant: undefined }, rack);
    const place = referencesOf(modelAt(objectId));
    const to = { objectId: target.objectId, model };
    expect(await kit.im('POST', place, { body: rackReferences.map((name) => ({ name, to })) }), 201);
    expect(await kit.im('GET', place), 200, { data: listOf(rackReferences.length) });
  }),
  must(
    'im.references.unknown',
    'References of an unknown object model are 404, to read and to write.',
    unbounded,
  )(async (kit) => {
    const { to } = await pair(kit);
    const place = referencesOf(modelAt(randomUUID()));
    expect(await kit.im('GET', place), 404);
    expect(await kit.im('POST', place, { body: [{ name: 'contains', to }] }), 404);
  }),
];

const twoHits = 'A create does not find what exists: it is refused with 409, or makes a second object.';

/** Look-ups by type and values. */
export const lookUpRules: Rule[] = [
  must(
    'im.query',
    '`POST /query` finds an object model by type id and all given values, as soon as it is created, and answers it whole.',
    twoHits,
  )(async (kit) => {
    const { serial, objectId } = await kit.made({ label: 'found' });
    const answer = await query(kit, { serial, plant: kit.run });
    const one = {
      objectId: equalId(objectId),
      model,
      version: 1,
      type: `${kit.run}-machine@2.0.0`,
      'properties.label': 'found',
    };
    expect(answer, 200, { data: listOf(1), ...under('data.0', one), 'data.0.ownerId': equalId(await kit.owner()) });
  }),
  must(
    'im.query.none',
    'Nothing found: 200 and an empty list.',
    `${dead()} Nothing is ever created.`,
  )(async (kit) => {
    await kit.made();
    expect(await query(kit, { serial: kit.fresh(), plant: kit.run }), 200, { data: listOf(0) });
  }),
  should(
    'im.query.all',
    'An object model that has only some of the values is not found.',
    'The service checks each hit again; it is paid for in bytes.',
  )(async (kit) => {
    const { serial } = await kit.made();
    expect(await query(kit, { serial, plant: kit.fresh() }), 200, { data: listOf(0) });
  }),
  must(
    'im.query.versions',
    'Object models of each version of the type are found.',
    twoHits,
  )(async (kit) => {
    const { serial } = await kit.made({}, { type: `${kit.run}-machine@1.9.0` });
    expect(await query(kit, { serial, plant: kit.run }), 200, { data: listOf(1) });
  }),
  must(
    'im.query.current',
    'They are found as the latest update left them.',
    'The service sends a version that is behind: it is refused again and again.',
  )(async (kit) => {
    const { serial, at: place } = await kit.made();
    const body = { type: `${kit.run}-machine`, properties: { serial, plant: kit.run, label: 'new' }, version: 1 };
    expect(await kit.im('PUT', place, { body }), 200);
    expect(await query(kit, { serial, plant: kit.run }), 200, {
      'data.0.version': 2,
      'data.0.properties.label': 'new',
    });
  }),
  must(
    'im.query.wrapped',
    'Plain and wrapped values are equal: `"A1"` and `{"value":"A1"}`.',
    twoHits,
  )(async (kit) => {
    const [plain, wrapped] = [await kit.made(), kit.fresh()];
    await kit.made({ serial: { value: wrapped } });
    expect(await query(kit, { serial: { value: plain.serial }, plant: kit.run }), 200, { data: listOf(1) });
    expect(await query(kit, { serial: wrapped, plant: { value: kit.run } }), 200, { data: listOf(1) });
  }),
  should(
    'im.query.numbers',
    'Numbers are equal by value: `1` and `1.0`.',
    twoHits,
  )(async (kit) => {
    const { serial } = await kit.made(`{"serial":"${kit.fresh()}","plant":"${kit.run}","count":12}`);
    const body = `{"model":"${model}","type":"${kit.run}-machine","properties":{"plant":"${kit.run}","count":12.0}}`;
    const hits = dataOf(expect(await kit.im('POST', '/query', { body }), 200));
    if (hits.length !== 1)
      throw new Broken(
        `12.0 finds ${hits.length} object models whose \`count\` is 12, of which there is one (${serial})`,
      );
  }),
  must(
    'im.query.exact',
    'Numbers that differ beyond 2^53 are not equal.',
    'Another machine is found and updated.',
  )(async (kit) => {
    await kit.made(`{"serial":"${kit.fresh()}","plant":"${kit.run}","count":${bigInteger}}`);
    const ask = (count: string) =>
      kit.im('POST', '/query', {
        body: `{"model":"${model}","type":"${kit.run}-machine","properties":{"count":${count}}}`,
      });
    expect(await ask('9007199254740992'), 200, { data: listOf(0) });
  }),
  should(
    'im.query.subtypes',
    'Object models of derived types are not found.',
    'The service drops them; they are paid for in bytes.',
  )(async (kit) => {
    const { serial } = await kit.made({}, { type: `${kit.run}-pump@1.0.0` });
    expect(await query(kit, { serial, plant: kit.run }), 200, { data: listOf(0) });
  }),
];

function dead(): string {
  return 'The message ends as a dead letter, and the device gets `internal_platform_error`.';
}
const under = (place: string, members: object) =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [`${place}.${name}`, value]));
const query = (kit: Kit, properties: object, device = kit.given.device) =>
  kit.im('POST', '/query', { body: { model, type: `${kit.run}-machine`, properties }, device });

const tenants = 'Tenants see, or change, each other’s objects.';
const devices = 'Devices of a tenant see, or change, each other’s objects.';
const repeats = 'The service reads back what a lost answer left, and decides by it; repeats after a crash are refused.';

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
    'Another tenant’s update and claim are 404, and change nothing.',
    tenants,
  )(async (kit) => {
    const device = kit.option('other-tenant-device');
    const { at: place, serial } = await kit.made();
    const body = { type: `${kit.run}-machine`, version: 1, properties: { serial, plant: kit.run, label: 'theirs' } };
    expect(await kit.im('PUT', place, { device, body }), 404);
    expect(await kit.im('PUT', `${place}/owner`, { device, body: { ownerId: await kit.owner() } }), 404);
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
    'Another device’s update is 403, and changes nothing.',
    devices,
  )(async (kit) => {
    const device = kit.option('other-device');
    const { at: place, serial } = await kit.made();
    const body = { type: `${kit.run}-machine`, version: 1, properties: { serial, plant: kit.run, label: 'theirs' } };
    expect(await kit.im('PUT', place, { device, body }), 403);
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
    const found = await kit.pm('GET', `/devices?device=${encodeURIComponent(device)}`, { device });
    const properties = { serial, plant: kit.run };
    const body = { objectId: randomUUID(), model, type: `${kit.run}-machine@2.0.0`, properties };
    const answer = await kit.im('POST', `/object?owner=${at(found, 'data.0.id')}`, { device, body });
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
    'Whoever may read may invoke.',
  )(async (kit) => {
    const token = kit.option('reader-token');
    const { at: place } = await kit.made();
    expect(await kit.im('GET', place, { token, device: null }), 200);
    expect(await kit.im('GET', place, { token, device: null, headers: { 'x-svc-operation': 'invoke' } }), 403);
  }),
];

/** Repeats: what a lost answer leaves behind. */
export const repeatRules: Rule[] = [
  should(
    'im.repeat.create',
    'A create that is repeated with its `idempotency-key` is answered as it was.',
    repeats,
  )(async (kit) => {
    const key = randomUUID();
    const { objectId, serial } = await kit.made({}, {}, { key });
    expect((await kit.post({ serial }, { objectId }, { key })).answer, 201, {
      objectId: equalId(objectId),
      version: 1,
    });
  }),
  should(
    'im.repeat.update',
    'An update that is repeated with its key is answered as it was, and made once.',
    repeats,
  )(async (kit) => {
    const { at: place, serial } = await kit.made();
    const body = { type: `${kit.run}-machine`, version: 1, properties: { serial, plant: kit.run } };
    const options = { body, key: randomUUID() };
    await kit.im('PUT', place, options);
    expect(await kit.im('PUT', place, options), 200, { version: 2 });
    expect(await kit.im('GET', place), 200, { version: 2 });
  }),
  should(
    'im.repeat.refusal',
    'A refusal is repeated as it was, also if the request would succeed by now.',
    'A device that was told of a failure finds its change there after a repeat.',
  )(async (kit) => {
    const { objectId, at: place, serial } = await kit.made();
    const options = {
      key: randomUUID(),
      body: { type: `${kit.run}-machine`, version: 2, properties: { serial, plant: kit.run } },
    };
    expect(await kit.im('PUT', place, options), 409);
    const between = { type: `${kit.run}-machine`, version: 1, properties: { serial, plant: kit.run } };
    expect(await kit.im('PUT', place, { body: between }), 200, { objectId: equalId(objectId) });
    expect(await kit.im('PUT', place, options), 409);
  }),
  should(
    'im.repeat.scope',
    'A key counts for its device alone.',
    'A device gets the answer to a request of another one.',
  )(async (kit) => {
    const key = randomUUID();
    const { objectId, serial } = await kit.made({}, {}, { key });
    const { answer } = await kit.post({ serial }, { objectId }, { key, device: kit.option('other-device') });
    if (answer.status < 400)
      throw new Broken(`another device’s request with the same key was answered with ${answer.status}`, answer);
  }),
  should(
    'im.repeat.reused',
    'A key that was used for another request: 422.',
    'A defect of the service that repeats keys stays unseen.',
  )(async (kit) => {
    const key = randomUUID();
    const { at: place } = await kit.made({}, {}, { key });
    expect(await kit.im('PUT', `${place}/owner`, { body: { ownerId: await kit.owner() }, key }), 422);
  }),
  must(
    'im.lost.create',
    'After a create whose answer was lost, a repeat is answered with 201, or with 409 and `meta`, and the object model is there once with type and owner.',
    'The device gets `http_response_error` for what succeeded, or has two objects.',
  )(async (kit) => {
    const [key, objectId, serial] = [randomUUID(), randomUUID(), kit.fresh()];
    await kit.post({ serial }, { objectId }, { key, losesAnswer: true });
    kit.left.objects.add(objectId);
    const { answer } = await kit.post({ serial }, { objectId }, { key });
    expect(answer, [201, 409], answer.status === 409 ? { 'errors.0.meta.objectId': equalId(objectId) } : {});
    expect(await kit.im('GET', modelAt(objectId)), 200, { ownerId: equalId(await kit.owner()), version: 1 });
    expect(await query(kit, { serial, plant: kit.run }), 200, { data: listOf(1) });
  }),
  must(
    'im.lost.update',
    'After an update whose answer was lost, the object model is read with its content and the next version.',
    'The device gets a version mismatch for its own update.',
  )(async (kit) => {
    const { at: place, serial } = await kit.made();
    const properties = { serial, plant: kit.run, label: 'sent' };
    await kit.im('PUT', place, { losesAnswer: true, body: { type: `${kit.run}-machine`, version: 1, properties } });
    expect(await kit.im('GET', place), 200, { version: 2, properties });
  }),
];
