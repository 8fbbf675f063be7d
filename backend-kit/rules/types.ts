import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { at, Broken, expect, Like, says } from '../expect.ts';
import { bigInteger, configuration, encoded, type Kit, model, typesAt, typesOf } from '../kit.ts';
import { must, nice, type Rule, should } from './rule.ts';

const place = (typeId: string, version?: string) =>
  `${typesAt(model)}/${encoded(typeId)}${version === undefined ? '' : `/versions/${version}`}`;

/** Sends a type definition of a type id that is new. */
async function post(kit: Kit, more: object = {}, options: Parameters<Kit['call']>[3] = {}) {
  const typeId = `${kit.fresh()}-type`;
  const definition = { typeId, version: '1.0.0', properties: { label: { dataType: 'string' } }, ...more };
  const answer = await kit.tr('POST', typesAt(model), { body: definition, ...options });
  if (answer.status === 201) kit.left.types.add(`${model} ${definition.typeId}@${definition.version}`);
  return { definition, typeId: definition.typeId, answer };
}

const twice = 'Devices that create their type at each start get the wrong answer.';
const unique = 'Unique properties are not known: each create of a device makes another object.';
/** What a registry resolves, or leaves out. */
const namesOrNone = (...names: readonly string[]) =>
  new Like(
    `${JSON.stringify(names)} in any order, or absent`,
    (value) => value === undefined || (Array.isArray(value) && isDeepStrictEqual([...value].sort(), [...names].sort())),
  );

export const typeRules: Rule[] = [
  must(
    'tr.create',
    '`POST /modelDefinitions/{modelId}/types` answers 201 with the type definition.',
    'No device defines a type.',
  )(async (kit) => {
    const { answer, typeId } = await post(kit);
    expect(answer, 201, { typeId, version: '1.0.0' });
  }),
  must(
    'tr.create.again',
    'A type id and version that exist: 409.',
    `${twice} A version of a type that changes is never seen: it is cached for good.`,
  )(async (kit) => {
    const { typeId } = await post(kit);
    expect((await post(kit, { typeId, properties: {} })).answer, 409);
    expect(await kit.tr('GET', place(typeId, '1.0.0')), 200, { 'properties.label.dataType': 'string' });
  }),
  nice(
    'tr.create.again-meta',
    'That 409 has `meta.typeId` and `meta.version`.',
    'People miss it; the service reads the type itself.',
  )(async (kit) => {
    const { typeId } = await post(kit);
    const { answer } = await post(kit, { typeId });
    expect(answer, answer.status, { 'errors.0.meta.typeId': typeId, 'errors.0.meta.version': '1.0.0' });
  }),
  must(
    'tr.create.invalid',
    'A definition with a wrong shape is refused with 400.',
    'A mistake of a device is stored, or repeated as if the registry were down.',
  )(async (kit) => {
    expect((await post(kit, { version: 'one' })).answer, 400);
    expect((await post(kit, { properties: { label: { dataType: 7 } } })).answer, 400);
  }),
  should(
    'tr.create.base-unknown',
    'An unknown base type is refused with 400.',
    'Types whose unique properties nobody can resolve.',
  )(async (kit) => {
    await kit.types();
    expect((await post(kit, { baseTypes: [`${kit.run}-none@1.0.0`] })).answer, 400);
  }),
  must(
    'tr.create.size',
    'A definition of 65,000 bytes is taken; messages have as many.',
    'The device gets `http_response_error` for what is allowed.',
  )(async (kit) => {
    const description = 'd'.repeat(64_500);
    const { answer, typeId } = await post(kit, { properties: { label: { dataType: 'string', description } } });
    expect(answer, 201);
    expect(await kit.tr('GET', place(typeId)), 200, { 'properties.label.description': description });
  }),
  must(
    'tr.read',
    'A version is read with each member as it was sent.',
    'After a lost answer the service takes its own type for another’s: `http_response_error`.',
  )(async (kit) => {
    await kit.types();
    const sent = Object.values(typesOf(kit.run)[3][1]);
    const names = Object.keys(typesOf(kit.run)[3][1]);
    const members = Object.fromEntries(names.map((name, i) => [name, sent[i]]));
    expect(await kit.tr('GET', place(`${kit.run}-machine`, '2.0.0')), 200, members);
  }),
  must(
    'tr.read.latest',
    'Without a version, the latest is read: the highest, number by number.',
    'The wrong unique properties, and the wrong type.',
  )(async (kit) => {
    const typeId = `${kit.fresh()}-type`;
    for (const version of ['1.10.0', '1.9.0']) expect((await post(kit, { typeId, version })).answer, 201);
    expect(await kit.tr('GET', place(typeId)), 200, { version: '1.10.0' });
  }),
  must(
    'tr.read.major',
    'A major version means its latest.',
    'The wrong unique properties, and the wrong type.',
  )(async (kit) => {
    await kit.types();
    expect(await kit.tr('GET', place(`${kit.run}-machine`, '1')), 200, { version: '1.10.0' });
  }),
  must(
    'tr.read.unknown',
    'An unknown type, and an unknown version of a known one, is 404.',
    'The message is repeated as if the registry were down.',
  )(async (kit) => {
    await kit.types();
    expect(await kit.tr('GET', place(`${kit.run}-none`)), 404);
    expect(await kit.tr('GET', place(`${kit.run}-machine`, '3')), 404);
    expect(await kit.tr('GET', place(`${kit.run}-machine`, '1.9.1')), 404);
  }),
  must(
    'tr.read.model',
    'A type belongs to its model definition: in another it is 404.',
    'Types of one model take the place of another’s.',
  )(async (kit) => {
    const { typeId } = await post(kit);
    expect(await kit.tr('GET', `${typesAt(configuration)}/${typeId}`), 404);
  }),
  should(
    'tr.read.encoded',
    'Type ids may have spaces and other characters, and are percent-decoded.',
    'Types with such ids cannot be used.',
  )(async (kit) => {
    const typeId = `${kit.fresh()} é+&=;`;
    expect((await post(kit, { typeId })).answer, 201);
    expect(await kit.tr('GET', place(typeId)), 200, { typeId });
  }),
  must(
    'tr.unique',
    '`unique` is kept, and `uniqueProperties`, if it is answered, has them.',
    unique,
  )(async (kit) => {
    await kit.types();
    const members = { unique: ['serial', 'plant'], uniqueProperties: namesOrNone('serial', 'plant') };
    expect(await kit.tr('GET', place(`${kit.run}-machine`)), 200, members);
  }),
  must(
    'tr.unique.base',
    '`uniqueProperties`, if it is answered, has those of the base types; `baseTypes` is kept.',
    unique,
  )(async (kit) => {
    await kit.types();
    const members = { baseTypes: [`${kit.run}-machine@2.0.0`], uniqueProperties: namesOrNone('serial', 'plant') };
    expect(await kit.tr('GET', place(`${kit.run}-pump`)), 200, members);
  }),
  must(
    'tr.unique.none',
    'A type whose object models are not unique has no `uniqueProperties`, or an empty list.',
    'Look-ups by values that are not unique: other objects are updated.',
  )(async (kit) => {
    await kit.types();
    expect(await kit.tr('GET', place(`${kit.run}-rack`)), 200, { uniqueProperties: namesOrNone() });
  }),
  must(
    'tr.methods',
    '`methods` are kept, with their inputs.',
    'No application can invoke a method: 404.',
  )(async (kit) => {
    await kit.types();
    const members = { 'methods.stop': {}, 'methods.configure.input.rpm.dataType': 'integer' };
    expect(await kit.tr('GET', place(`${kit.run}-machine`)), 200, members);
  }),
  should(
    'tr.bytes',
    'Numbers and members that the registry does not know come back as they were sent.',
    'Defaults of 64 bits change; after a lost answer the service takes its own type for another’s.',
  )(async (kit) => {
    const typeId = `${kit.fresh()}-type`;
    const body = `{"typeId":"${typeId}","version":"1.0.0","properties":{"n":{"dataType":"integer","default":${bigInteger}}},"x-note":{"b":1.0,"a":2}}`;
    expect((await post(kit, { typeId }, { body })).answer, 201);
    const answer = expect(await kit.tr('GET', place(typeId)), 200);
    says(answer, bigInteger);
    says(answer, '"x-note":{"b":1.0,"a":2}');
  }),
  must(
    'tr.tenant',
    'A type of another tenant is 404.',
    'Tenants read each other’s types.',
  )(async (kit) => {
    const { typeId } = await post(kit);
    expect(await kit.tr('GET', place(typeId), { device: kit.option('other-tenant-device') }), 404);
  }),
  must(
    'tr.tenant.shared',
    'Each device of the tenant reads the types of the others.',
    'Devices cannot use the types of their tenant.',
  )(async (kit) => {
    const { typeId } = await post(kit);
    expect(await kit.tr('GET', place(typeId), { device: kit.option('other-device') }), 200);
  }),
  should(
    'tr.repeat',
    'A create that is repeated with its `idempotency-key` is answered with 201.',
    'After a crash the device gets `http_response_error` for what succeeded.',
  )(async (kit) => {
    const key = randomUUID();
    const { typeId } = await post(kit, {}, { key });
    expect((await post(kit, { typeId }, { key })).answer, 201, { typeId });
  }),
  must(
    'tr.lost',
    'After a create whose answer was lost, a repeat is answered with 201 or 409, and the type is there as it was sent.',
    'The device gets `http_response_error` for what succeeded.',
  )(async (kit) => {
    const [key, typeId] = [randomUUID(), `${kit.fresh()}-type`];
    await post(kit, { typeId }, { key, losesAnswer: true });
    kit.left.types.add(`${model} ${typeId}@1.0.0`);
    expect((await post(kit, { typeId }, { key })).answer, [201, 409]);
    const answer = expect(await kit.tr('GET', place(typeId, '1.0.0')), 200);
    if (!isDeepStrictEqual(at(answer, 'properties'), { label: { dataType: 'string' } }))
      throw new Broken('the stored type is not the one that was sent', answer);
  }),
];
