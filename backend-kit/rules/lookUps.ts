import { Broken, dataOf, equalId, expect, listOf } from '../expect.ts';
import { bigInteger, type Kit, model } from '../kit.ts';
import { dead, must, type Rule, should } from './rule.ts';

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
    `${dead} Nothing is ever created.`,
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
    'Numbers beyond 2^53 are found, and those that differ there are not equal.',
    'What exists is created again, or another machine is found and updated.',
  )(async (kit) => {
    await kit.made(`{"serial":"${kit.fresh()}","plant":"${kit.run}","count":${bigInteger}}`);
    const ask = (count: string) =>
      kit.im('POST', '/query', {
        body: `{"model":"${model}","type":"${kit.run}-machine","properties":{"plant":"${kit.run}","count":${count}}}`,
      });
    expect(await ask(bigInteger), 200, { data: listOf(1) });
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

const under = (place: string, members: object) =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [`${place}.${name}`, value]));

/** Looks for object models of the type machine. */
export const query = (kit: Kit, properties: object, device = kit.given.device) =>
  kit.im('POST', '/query', { body: { model, type: `${kit.run}-machine`, properties }, device });
