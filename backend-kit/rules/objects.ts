import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  absent,
  aGuid,
  anyText,
  at,
  Broken,
  bigInteger,
  configuration,
  equalId,
  expect,
  type Kit,
  listOf,
  model,
  modelAt,
  says,
} from '../kit.ts';
import { must, nice, type Rule, should } from './rule.ts';

const dead = 'The message ends as a dead letter, and the device gets `internal_platform_error`.';
const refused = 'The device gets `http_response_error` for what should succeed.';
const unbounded = 'A mistake of a device is stored, or repeated as if the backend were down.';

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

/** Object models: create, read, replace, and the bytes that stay what they are. */
export const objectRules: Rule[] = [
  must(
    'im.create',
    '`POST /object?owner=` answers 201.',
    `${dead} No device gets an object.`,
  )(async (kit) => expect((await kit.post()).answer, 201)),
  must(
    'im.create.answer',
    'The answer to a create is the object model, version 1, with its full type.',
    dead,
  )(async (kit) => {
    const { answer, objectId, serial } = await kit.made({ label: 'new' });
    const values = { 'properties.label': 'new', 'properties.serial': serial, name: serial };
    expect(answer, 201, {
      objectId: equalId(objectId),
      model,
      version: 1,
      type: `${kit.run}-machine@2.0.0`,
      ...values,
    });
  }),
  must(
    'im.create.id',
    'A create takes the object id of its body.',
    'Each repeat of a message creates another object: ids are derived from events.',
  )(async (kit) => {
    const id = randomUUID();
    const { answer } = await kit.made({}, { objectId: id });
    expect(answer, 201, { objectId: equalId(id) });
  }),
  must(
    'im.create.owner',
    '`ownerId` and `path` of a new object model are those of the identity in `?owner=`.',
    'Notifications go to the wrong device, or to none; a lost answer counts as a failure.',
  )(async (kit) => {
    const { answer } = await kit.made();
    expect(answer, 201, { ownerId: equalId(await kit.owner()), path: kit.given.device });
  }),
  must(
    'im.create.owner-child',
    'An identity below the device can be the owner.',
    'What devices below a gateway create belongs to the gateway, and its notifications have no `target`.',
  )(async (kit) => {
    const { id, whole } = await kit.expendable();
    const { answer } = await kit.made({}, {}, { owner: id });
    expect(answer, 201, { ownerId: equalId(id), path: `${kit.given.device}/${whole}` });
  }),
  should(
    'im.create.owner-unknown',
    'An owner that does not exist is refused with 404.',
    unbounded,
  )(async (kit) => {
    await kit.types();
    const body = { model, type: `${kit.run}-rack`, properties: {} };
    expect(await kit.im('POST', `/object?owner=${randomUUID()}`, { body }), 404);
  }),
  nice(
    'im.create.generated',
    'Without an object id, one is generated.',
    'The service sends one, unless the body lacks what a look-up needs.',
  )(async (kit) => {
    const { answer } = await kit.made({}, { objectId: undefined });
    expect(answer, 201, { objectId: aGuid });
  }),
  must(
    'im.create.with-id',
    '`POST /objects/{objectId}?owner=` creates with the id of the path (V1).',
    'Devices that speak V1 create nothing.',
  )(async (kit) => {
    await kit.types();
    const id = randomUUID();
    const body = { type: `${kit.run}-rack@1.0.0`, properties: {} };
    expect(await kit.im('POST', `/objects/${id}?owner=${await kit.owner()}`, { body }), 201, {
      objectId: equalId(id),
      model,
    });
    kit.left.objects.add(id);
  }),
  must(
    'im.create.again',
    'The same object id and model again: 409.',
    'Repeated messages create two objects, or overwrite without a version.',
  )(async (kit) => {
    const { objectId } = await kit.made();
    expect((await kit.post({}, { objectId })).answer, 409);
  }),
  must(
    'im.create.again-meta',
    'That 409 names the object model in `meta.objectId` and `meta.type`.',
    'The service cannot tell its own earlier create from another’s: the device gets `http_response_error`.',
  )(async (kit) => {
    const { objectId } = await kit.made();
    const { answer } = await kit.post({}, { objectId });
    expect(answer, answer.status, {
      'errors.0.meta.objectId': equalId(objectId),
      'errors.0.meta.type': `${kit.run}-machine@2.0.0`,
    });
  }),
  must(
    'im.create.unique',
    'The same values of all unique properties with another object id: 409, whose `meta` names the object model that exists.',
    'A device that is set up again gets a second object; afterwards look-ups find two and refuse both.',
  )(async (kit) => {
    const { objectId, serial } = await kit.made();
    const members = { 'errors.0.meta.objectId': equalId(objectId), 'errors.0.meta.type': `${kit.run}-machine@2.0.0` };
    expect((await kit.post({ serial })).answer, 409, members);
  }),
  must(
    'im.create.unique-group',
    'An object model that shares only some of the unique values is created.',
    refused,
  )(async (kit) => {
    const { serial } = await kit.made();
    expect((await kit.post({ serial, plant: `${kit.run}-other` })).answer, 201);
  }),
  must(
    'im.create.unique-derived',
    'The unique properties of base types count, too.',
    'A second object for the same machine, of a derived type.',
  )(async (kit) => {
    const { serial } = await kit.made();
    expect((await kit.post({ serial }, { type: `${kit.run}-pump@1.0.0` })).answer, 409);
  }),
  must(
    'im.create.type-latest',
    'A type without version is the latest one, by number.',
    'Objects get another type version than their devices mean.',
  )(async (kit) => {
    const { answer } = await kit.made({}, { type: `${kit.run}-machine` });
    expect(answer, 201, { type: `${kit.run}-machine@2.0.0` });
  }),
  must(
    'im.create.type-major',
    'A type with a major version is the latest of it, by number.',
    'Objects get another type version than their devices mean.',
  )(async (kit) => {
    const { answer } = await kit.made({}, { type: `${kit.run}-machine@1` });
    expect(answer, 201, { type: `${kit.run}-machine@1.10.0` });
  }),
  must(
    'im.create.type-unknown',
    'An unknown type is refused with 400.',
    unbounded,
  )(async (kit) => expect((await kit.post({}, { type: `${kit.run}-none@1` })).answer, 400)),
  should(
    'im.create.undeclared',
    'A property that the type does not declare is refused with 400.',
    unbounded,
  )(async (kit) => expect((await kit.post({ undeclared: 1 })).answer, 400)),
  should(
    'im.create.data-type',
    'A value of another data type than declared is refused with 400.',
    unbounded,
  )(async (kit) => {
    expect((await kit.post({ count: 'seven' })).answer, 400);
    expect((await kit.post({ count: 1.5 })).answer, 400);
  }),
  should(
    'im.create.mandatory',
    'An object model without a mandatory property is refused with 400, which names it.',
    unbounded,
  )(async (kit) => {
    const { answer } = await kit.post({ serial: undefined });
    expect(answer, 400);
    if (!answer.text.includes('serial'))
      throw new Broken('the refusal does not name the property that is missing', answer);
  }),
  should(
    'im.create.null',
    '`null` is no value: it fits each data type, and ids.',
    refused,
  )(async (kit) => expect((await kit.post({ label: null })).answer, 201)),
  should(
    'im.create.wrapped',
    'A value may be wrapped: `{"value": x}`.',
    refused,
  )(async (kit) => {
    const { answer } = await kit.post({ count: { value: 7 } });
    expect(answer, 201, { 'properties.count': { value: 7 } });
  }),

  must(
    'im.related',
    'Related models of the type are created with the object model, and the answer lists each: `{model, success, code, details, created}`.',
    'The acknowledgement has no result for them, and no configuration is sent to the device.',
  )(async (kit) => {
    const { answer } = await kit.made();
    const one = { model: configuration, success: true, code: 'ok', details: '', created: true };
    expect(answer, 201, { relatedModels: [one] });
  }),
  must(
    'im.related.there',
    'A related model has the same object id, name and owner, the values that `uniqueMapping` copies, and defaults.',
    'The configuration that a device is sent is missing, or empty.',
  )(async (kit) => {
    const { objectId, serial } = await kit.made();
    const stored = await kit.im('GET', modelAt(objectId, configuration));
    const values = { 'properties.serial': serial, 'properties.interval': 60 };
    expect(stored, 200, {
      objectId: equalId(objectId),
      model: configuration,
      name: serial,
      version: 1,
      path: kit.given.device,
      ...values,
    });
  }),
  must(
    'im.related.failed',
    'A related model that fails does not fail the create: `success` is false, with `code` and `details`.',
    'One wrong type keeps a device from being created.',
  )(async (kit) => {
    const { answer } = await kit.post({ serial: undefined, plant: undefined }, { type: `${kit.run}-odd@1.0.0` });
    const members = {
      'relatedModels.0.success': false,
      'relatedModels.0.code': 'http_response_error',
      'relatedModels.0.details': anyText,
    };
    expect(answer, 201, { 'relatedModels.0.model': configuration, ...members });
  }),
  should(
    'im.related.none',
    'A type without related models: `relatedModels` is an empty list.',
    'The service says an empty list all the same.',
  )(async (kit) => {
    const { answer } = await kit.made({ serial: undefined, plant: undefined }, { type: `${kit.run}-rack@1.0.0` });
    expect(answer, 201, { relatedModels: listOf(0) });
  }),

  must(
    'im.read',
    '`GET /objects/{objectId}/models/{model}` answers what the create answered, without `relatedModels`.',
    dead,
  )(async (kit) => {
    const { at: place, answer } = await kit.made({ label: 'read' });
    const found = expect(await kit.im('GET', place), 200, { relatedModels: absent });
    const { relatedModels: _, ...created } = Object(answer.json);
    if (!isDeepStrictEqual(found.json, created))
      throw new Broken('the object model that is read is not the one that was created', found);
  }),
  must(
    'im.read.unknown',
    'An unknown object, and an unknown model of a known object, is 404.',
    'What does not exist is taken for there, and never created.',
  )(async (kit) => {
    expect(await kit.im('GET', modelAt(randomUUID())), 404);
    const { objectId } = await kit.made();
    expect(await kit.im('GET', modelAt(objectId, `${kit.run}-model`)), 404);
  }),
  should(
    'im.read.case',
    'Object ids are equal whatever the case of their letters.',
    'Devices that write ids in capital letters do not find their objects.',
  )(async (kit) => {
    const { objectId } = await kit.made();
    expect(await kit.im('GET', modelAt(objectId.toUpperCase())), 200);
  }),
  should(
    'im.read.encoded',
    'Segments of a path are percent-decoded.',
    'Models with other characters than letters, digits and dots are not found.',
  )(async (kit) => {
    const { objectId } = await kit.made();
    expect(await kit.im('GET', `/objects/${objectId}/models/svc%2Edevice`), 200);
  }),

  must(
    'im.bytes.integer',
    'A 64-bit integer comes back with all its digits.',
    'Counters change by themselves; a lost answer is taken for a failure.',
  )(async (kit) => {
    const { at: place } = await kit.made(`{"serial":"${kit.fresh()}","plant":"a","count":${bigInteger}}`);
    says(expect(await kit.im('GET', place), 200), `"count":${bigInteger}`);
  }),
  should(
    'im.bytes.number',
    '`1.0` and `2.50` come back as they were sent.',
    'The guarantee that bytes are passed through ends at the backend.',
  )(async (kit) => {
    const { at: place } = await kit.made(`{"serial":"${kit.fresh()}","plant":"a","ratio":1.0}`, { variables: {} });
    says(expect(await kit.im('GET', place), 200), '"ratio":1.0');
  }),
  should(
    'im.bytes.order',
    'The members of `properties` come back in the order in which they were sent.',
    'The guarantee that bytes are passed through ends at the backend.',
  )(async (kit) => {
    const sent = `{"ratio":0.5,"count":3,"plant":"a","label":"x","serial":"${kit.fresh()}"}`;
    const { at: place } = await kit.made(sent);
    says(expect(await kit.im('GET', place), 200), `"properties":${sent}`);
  }),
  must(
    'im.bytes.text',
    'Texts come back whole: quotes, backslashes, control characters, every plane of Unicode.',
    'What a device reads is not what a device wrote.',
  )(async (kit) => {
    const label = 'a"\\/\n\u0000é\u2028😀';
    const { at: place } = await kit.made({ label });
    expect(await kit.im('GET', place), 200, { 'properties.label': label });
  }),
  must(
    'im.bytes.variables',
    '`variables` are stored and returned as `properties` are.',
    'Variables of devices are lost.',
  )(async (kit) => {
    const { at: place, serial } = await kit.made({}, { variables: { reading: 2.5 } });
    says(expect(await kit.im('GET', place), 200), '"variables":{"reading":2.5}');
    const body = `{"type":"${kit.run}-machine","version":1,"properties":{"serial":"${serial}","plant":"${kit.run}"},"variables":{"total":${bigInteger}}}`;
    expect(await kit.im('PUT', place, { body }), 200);
    says(expect(await kit.im('GET', place), 200), `"variables":{"total":${bigInteger}}`);
  }),
  must(
    'im.bytes.large',
    'An object model of 250,000 bytes is stored and returned; a message has as many.',
    refused,
  )(async (kit) => {
    const label = 'x'.repeat(250_000);
    const { answer, at: place } = await kit.post({ label });
    expect(answer, 201);
    expect(await kit.im('GET', place), 200, { 'properties.label': label });
  }),

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
    const body = update(kit, 2, { serial, plant: kit.run }, { name: 'another name' });
    expect(await kit.im('PUT', place, body), [200], { name: 'another name' });
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
    const place = modelAt(kit.option('unclaimed-object'));
    const before = expect(await kit.im('GET', place), 200, { ownerId: absent, path: absent });
    const { type, properties, version } = Object(before.json);
    expect(await kit.im('PUT', place, { body: { type, properties, version } }), 403);
    expect(await kit.im('PUT', `${place}/owner`, { body: { ownerId: await kit.owner() } }), 204);
    expect(await kit.im('GET', place), 200, { version, ownerId: equalId(await kit.owner()), path: kit.given.device });
  }),
];
