import { expect, it } from 'vitest';
import { withoutHosts } from '../../src/text/hostNames.ts';
import { nearest } from '../../src/text/nearest.ts';

const take = withoutHosts(['im.internal', '10.0.0.7', 'registry', '[::1]', '']);

it.each([
  ['im.internal refused', '… refused'],
  ['connect IM.Internal:8443.', 'connect ….'],
  ['10.0.0.7:80, registry', '…, …'],
  ['at [::1]:9000', 'at …'],
  ['sim.internal, im.internal.example, 110.0.0.7, 10.0.0.71, registry-2, registry.example', undefined],
  ['the imXinternal stays', undefined],
])('the cleaned text of %j has no host name of the service', (text, left = text) => expect(take(text)).toBe(left));

it('without hosts the text is unchanged', () => expect(withoutHosts([''])('a text')).toBe('a text'));

const names = ['model.create', 'model.update', 'type.create'];

it.each([
  ['model.update', 'model.update'],
  ['model.updated', 'model.update'],
  ['modl.create', 'model.create'],
  ['tpye.create', 'type.create'],
  ['', 'type.create'],
])('the nearest name to %j is %s', (given, expected) => expect(nearest(given, names)).toBe(expected));

it('an empty list has no nearest name', () => expect(nearest('model.create', [])).toBeUndefined());
it('a name with more differences than allowed is not returned', () => {
  expect(nearest('modl.creat', names, 2)).toBe('model.create');
  expect(nearest('modl.creat', names, 1)).toBeUndefined();
});
it('long names are compared by their first 100 characters', () => {
  const long = 'x'.repeat(1_000_000);
  expect(nearest(long, ['x'.repeat(99), 'x'.repeat(100)])).toBe('x'.repeat(100));
});
