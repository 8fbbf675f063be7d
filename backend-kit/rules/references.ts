import { randomUUID } from 'node:crypto';
import { Broken, dataOf, equalId, expect, listOf, says } from '../expect.ts';
import { bigInteger, type Kit, model, modelAt, rackReferences, referencesOf } from '../kit.ts';
import { must, type Rule, should, unbounded } from './rule.ts';

const unread = 'Children and parents of devices are not found: SyncModel sends too little.';

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
