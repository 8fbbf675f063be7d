import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fieldsOf, rawOf, writtenOf } from '../../page/src/form/fields.ts';
import { graphOf } from '../../page/src/sandbox/graph.ts';
import { methodsOf } from '../../page/src/sandbox/world.ts';
import { indented, members, objectOf } from '../../page/src/text/rawJson.ts';
import { motorTypes } from '../../sandbox/backends/world/motors.ts';
import { messageForms } from '../../sandbox/page/messageForms.ts';
import { stories } from '../../sandbox/stories/index.ts';

it('members of an object are taken apart and put together without a change of their text', () => {
  const text = '{ "a": 9007199254740993, "b": [1.0, {"c": "}"}], "d": "x,\\"y", "a": 1e400 }';
  const parts = members(text);
  expect(parts).toEqual([
    ['a', '9007199254740993'],
    ['b', '[1.0, {"c": "}"}]'],
    ['d', '"x,\\"y"'],
    ['a', '1e400'],
  ]);
  expect(members(objectOf(parts ?? []))).toEqual(parts);
  for (const other of ['', '[]', '"a"', '{', 'null']) expect(members(other)).toBeUndefined();
});

it('any JSON is indented without a change of what it says', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(JSON.parse(indented(text))).toEqual(JSON.parse(text));
      const parts = members(text);
      if (parts) expect(JSON.parse(objectOf(parts))).toEqual(JSON.parse(text));
    }),
  );
  expect(indented('{"a":1.0,"b":[],"c":{"d":[1,2]}}')).toBe(
    '{\n  "a": 1.0,\n  "b": [],\n  "c": {\n    "d": [\n      1,\n      2\n    ]\n  }\n}',
  );
});

it('every message has a form: its headers are those of the contract, and the example fills what is needed', () => {
  const forms = messageForms();
  expect(forms.map(({ name }) => name)).toEqual(stories.map(({ message }) => message));
  for (const { name, headers, example, payload } of forms) {
    const fields = fieldsOf(headers as never);
    const needed = fields.filter(({ isNeeded }) => isNeeded).map((field) => field.name);
    expect(Object.keys(example.properties), name).toEqual(expect.arrayContaining(needed));
    const ack = fields.find((field) => field.name === 'ack');
    expect(ack?.description, name).toContain('`positive`');
    const known = fieldsOf(payload as never).map((field) => field.name);
    if (name !== 'reference.create')
      expect(known, name).toEqual(expect.arrayContaining(Object.keys(JSON.parse(example.body)).slice(0, 1)));
  }
  const create = fieldsOf(forms[0]?.headers as never);
  expect(create.find(({ name }) => name === 'action')).toMatchObject({ constant: 'model.create', isNeeded: true });
});

it('a field writes texts as JSON strings, and everything else as it stands', () => {
  const [text, number] = fieldsOf({ properties: { a: { type: 'string' }, b: { type: 'integer' } } });
  expect(
    fieldsOf({ properties: { c: { type: ['string', 'null'] }, d: { oneOf: [{ type: 'string' }, { type: 'null' }] } } }),
  ).toMatchObject([{ type: 'text' }, { type: 'text' }]);
  if (!text || !number) throw new Error('there are two fields');
  expect([rawOf(text, 'a"b'), rawOf(number, ' 9007199254740993 ')]).toEqual(['"a\\"b"', '9007199254740993']);
  expect(writtenOf(text, '"a\\"b"')).toBe('a"b');
});

it('a type has the methods of its base types', () => {
  const methods = methodsOf('servo-motor@1.0.0', motorTypes as never);
  expect(Object.keys(methods)).toEqual(['stop', 'configure', 'loadFirmware', 'moveTo']);
});

it('references are drawn from left to right, also in a ring and to oneself', () => {
  const object = (objectId: string, ...to: string[]) => ({
    ...{ tenant: 't', objectId, model: 'm', type: 'x@1' },
    references: to.map((one) => ({ name: 'feeds', to: { objectId: one, model: 'm' } })),
  });
  const path = [object('a', 'b'), object('b', 'c'), object('c')];
  const ring = [object('r', 's'), object('s', 'r')];
  const { nodes, lines } = graphOf([...path, ...ring, object('o', 'o'), object('alone')]);
  expect(nodes.map(({ title }) => title).sort()).toEqual(['a', 'b', 'c', 'o', 'r', 's']);
  const xOf = (name: string) => nodes.find(({ title }) => title === name)?.x ?? -1;
  expect(xOf('a')).toBeLessThan(xOf('b'));
  expect(xOf('b')).toBeLessThan(xOf('c'));
  expect(lines).toHaveLength(5);
});
