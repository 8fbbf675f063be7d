import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { aGuid, anyText, Broken, equalId, expect, listOf } from '../expect.ts';
import { configuration, encoded, model, modelAt } from '../kit.ts';
import { dead, must, nice, type Rule, refused, should, unbounded } from './rule.ts';

/** New object models, and the related ones that come with them. */
export const createRules: Rule[] = [
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
    expect(await kit.im('POST', `/objects/${id}?owner=${encoded(await kit.owner())}`, { body }), 201, {
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
    'im.create.race',
    'Of creates at the same time with the same unique values, one is 201 and the others are 409.',
    'Two deliveries make two objects; afterwards look-ups find two and refuse both.',
  )(async (kit) => {
    await kit.made();
    const serial = kit.fresh();
    const made = await Promise.all(['a', 'b', 'c', 'd'].map((label) => kit.post({ serial, label })));
    const statuses = made.map(({ answer }) => answer.status).sort();
    if (!isDeepStrictEqual(statuses, [201, 409, 409, 409]))
      throw new Broken(`four creates at once were answered with ${statuses.join(', ')}`, made[0]?.answer);
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
];
