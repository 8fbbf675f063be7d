import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { absent, at, Broken, equalId, expect, NotTried } from '../expect.ts';
import { configuration, type Kit, model, modelAt } from '../kit.ts';
import { dead, must, type Rule, refused, should, unbounded } from './rule.ts';

/** Version 2 of an object model, as `PUT` has it. */
const update = (kit: Kit, version: number, properties: object, more: object = {}) => ({
  body: { type: `${kit.run}-machine@2.0.0`, properties, version, ...more },
});

/** A new object model, changed once. */
async function changed(kit: Kit, properties: object = {}, more: object = {}) {
  const object = await kit.made({ label: 'before', count: 1 });
  const after = { serial: object.serial, plant: kit.run, label: 'after', ...properties };
  return { ...object, answer: await kit.im('PUT', object.at, update(kit, 1, after, more)) };
}

/** Updates against a version, and claims. */
export const updateRules: Rule[] = [
  must(
    'im.update',
    '`PUT` with the stored version answers 200 with the object model, whose version is one higher.',
    dead,
  )(async (kit) => {
    const { answer, objectId } = await changed(kit);
    expect(answer, 200, { objectId: equalId(objectId), model, version: 2, 'properties.label': 'after' });
  }),
  must(
    'im.update.stored',
    'It is stored.',
    'Updates of devices are lost.',
  )(async (kit) => {
    const { at: place } = await changed(kit);
    expect(await kit.im('GET', place), 200, { version: 2, 'properties.label': 'after' });
  }),
  must(
    'im.update.replaces',
    'Properties are replaced, not merged: one that is not sent is gone.',
    'Devices cannot remove a value.',
  )(async (kit) => {
    const { at: place } = await changed(kit);
    expect(await kit.im('GET', place), 200, { 'properties.count': absent });
  }),
  must(
    'im.update.owner',
    'Owner and path stay.',
    'An update takes the object from its owner.',
  )(async (kit) => {
    const { at: place } = await changed(kit);
    expect(await kit.im('GET', place), 200, { ownerId: equalId(await kit.owner()), path: kit.given.device });
  }),
  should(
    'im.update.name',
    'The name stays unless one is given.',
    'Names are lost with the first update.',
  )(async (kit) => {
    const { at: place, serial } = await changed(kit);
    expect(await kit.im('GET', place), 200, { name: serial });
    const body = update(kit, 2, { serial, plant: kit.run }, { name: `${kit.run}-another` });
    expect(await kit.im('PUT', place, body), 200, { name: `${kit.run}-another` });
  }),
  should(
    'im.update.type',
    'A type id without version keeps the type version.',
    'Objects change their type version by themselves.',
  )(async (kit) => {
    const { at: place, serial } = await kit.made({}, { type: `${kit.run}-machine@1.9.0` });
    const body = { type: `${kit.run}-machine`, properties: { serial, plant: kit.run }, version: 1 };
    expect(await kit.im('PUT', place, { body }), 200, { type: `${kit.run}-machine@1.9.0` });
  }),
  should(
    'im.update.ids',
    'Ids in the body are ignored in favour of those of the path.',
    refused,
  )(async (kit) => {
    const { answer, objectId } = await changed(kit, {}, { objectId: randomUUID(), model: 'svc.other' });
    expect(answer, 200, { objectId: equalId(objectId), model });
  }),
  must(
    'im.update.related',
    'The answer lists the related models of the type: those that are there with `created` false.',
    'The acknowledgement of an update says nothing of them.',
  )(async (kit) => {
    const { answer } = await changed(kit);
    const one = { model: configuration, success: true, code: 'ok', details: '', created: false };
    expect(answer, 200, { relatedModels: [one] });
  }),
  must(
    'im.update.behind',
    'A version below the stored one is refused with 409.',
    'Late messages overwrite newer ones.',
  )(async (kit) => {
    const { at: place, serial } = await changed(kit);
    expect(await kit.im('PUT', place, update(kit, 1, { serial, plant: kit.run, label: 'late' })), 409);
  }),
  must(
    'im.update.ahead',
    'A version above the stored one is refused with 409.',
    'The service fills gaps itself, one version at a time; the stored version would jump.',
  )(async (kit) => {
    const { at: place, serial } = await kit.made();
    expect(await kit.im('PUT', place, update(kit, 7, { serial, plant: kit.run })), 409);
  }),
  should(
    'im.update.meta',
    'That 409 has the stored version in `meta.version`.',
    'Nobody sees in a log which version would have been right; the service reads it itself.',
  )(async (kit) => {
    const { at: place, serial } = await kit.made();
    const answer = await kit.im('PUT', place, update(kit, 7, { serial, plant: kit.run }));
    expect(answer, answer.status, { 'errors.0.meta.version': 1 });
  }),
  must(
    'im.update.refused',
    'A refused update changes nothing.',
    'The device is told of a failure, and its change is there.',
  )(async (kit) => {
    const { at: place, serial } = await kit.made({ label: 'kept' });
    await kit.im('PUT', place, update(kit, 9, { serial, plant: kit.run, label: 'no' }));
    expect(await kit.im('GET', place), 200, { version: 1, 'properties.label': 'kept' });
  }),
  must(
    'im.update.race',
    'Of updates at the same time with one version, one is 200 and the others are 409.',
    'Updates of two deliveries overwrite each other unseen.',
  )(async (kit) => {
    const { at: place, serial } = await kit.made();
    const one = (label: string) => kit.im('PUT', place, update(kit, 1, { serial, plant: kit.run, label }));
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(one));
    const statuses = answers.map(({ status }) => status).sort();
    if (!isDeepStrictEqual(statuses, [200, 409, 409, 409]))
      throw new Broken(`four updates at once were answered with ${statuses.join(', ')}`, answers[0]);
  }),
  must(
    'im.update.unknown',
    'An update of an unknown object model is 404.',
    dead,
  )(async (kit) => {
    await kit.types();
    expect(await kit.im('PUT', modelAt(randomUUID()), update(kit, 1, {})), 404);
  }),
  should(
    'im.update.version',
    'An update without `version` is refused with 400.',
    'An update without a precondition overwrites.',
  )(async (kit) => {
    const { at: place, serial } = await kit.made();
    const body = { type: `${kit.run}-machine`, properties: { serial, plant: kit.run } };
    expect(await kit.im('PUT', place, { body }), 400);
  }),
  should(
    'im.update.unique',
    'A unique property that has a value cannot be changed or removed: 400.',
    'An object becomes another machine, and the next create of the first one makes a second object.',
  )(async (kit) => {
    const { at: place, serial } = await kit.made();
    expect(await kit.im('PUT', place, update(kit, 1, { serial: kit.fresh(), plant: kit.run })), 400);
    expect(await kit.im('PUT', place, update(kit, 1, { serial })), 400);
  }),
  should(
    'im.update.other-type',
    'Another type that is not in the unique group is refused with 400.',
    'A pump becomes a rack, and nobody finds it by its serial number.',
  )(async (kit) => {
    const { at: place } = await kit.made();
    const body = { type: `${kit.run}-rack@1.0.0`, properties: {}, version: 1 };
    expect(await kit.im('PUT', place, { body }), 400);
  }),

  must(
    'im.claim.again',
    'A claim by the owner again is 204, and the version stays.',
    'A repeat of a message that claimed ends with `not_authorized`.',
  )(async (kit) => {
    const { at: place } = await kit.made();
    expect(await kit.im('PUT', `${place}/owner`, { body: { ownerId: await kit.owner() } }), 204);
    expect(await kit.im('GET', place), 200, { version: 1, ownerId: equalId(await kit.owner()) });
  }),
  must(
    'im.claim.owned',
    'A claim of what another identity owns is 409.',
    'Devices take each other’s objects.',
  )(async (kit) => {
    const { at: place } = await kit.made();
    const device = kit.option('other-device');
    const found = await kit.pm('GET', `/devices?device=${encodeURIComponent(device)}`, { device });
    const ownerId = String(at(found, 'data.0.id'));
    expect(await kit.im('PUT', `${place}/owner`, { body: { ownerId }, device }), 409);
    expect(await kit.im('GET', place), 200, { ownerId: equalId(await kit.owner()) });
  }),
  should(
    'im.claim.unknown',
    'A claim for an unknown identity, or of an unknown object, is 404.',
    unbounded,
  )(async (kit) => {
    const { at: place } = await kit.made();
    expect(await kit.im('PUT', `${place}/owner`, { body: { ownerId: randomUUID() } }), 404);
    expect(await kit.im('PUT', `${modelAt(randomUUID())}/owner`, { body: { ownerId: await kit.owner() } }), 404);
  }),
  must(
    'im.claim',
    'An object model without an owner can be read, not changed (403); a claim is 204, sets `ownerId` and `path`, and leaves the version.',
    'Objects that were prepared for a device are never its own: `not_authorized`.',
  )(async (kit) => {
    const objectId = kit.option('unclaimed-object');
    const place = modelAt(objectId);
    const before = await kit.im('GET', place);
    if (equalId(await kit.owner()).fits(at(before, 'ownerId')))
      throw new NotTried('the device owns the object model of --unclaimed-object already: name another one');
    expect(before, 200, { ownerId: absent, path: absent });
    const { type, properties, version } = Object(before.json);
    expect(await kit.im('PUT', place, { body: { type, properties, version } }), 403);
    expect(await kit.im('PUT', `${place}/owner`, { body: { ownerId: await kit.owner() } }), 204);
    kit.spent.add(`--unclaimed-object ${objectId}`);
    expect(await kit.im('GET', place), 200, { version, ownerId: equalId(await kit.owner()), path: kit.given.device });
  }),
];
