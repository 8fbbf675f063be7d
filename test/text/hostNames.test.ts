import { expect, it } from 'vitest';
import { withoutHosts } from '../../src/text/hostNames.ts';

const take = withoutHosts(['im.internal', '10.0.0.7', 'registry', '[::1]', '']);

it.each([
  ['im.internal refused', '… refused'],
  ['connect IM.Internal:8443.', 'connect ….'],
  ['10.0.0.7:80, registry', '…, …'],
  ['at [::1]:9000', 'at …'],
  ['sim.internal, im.internal.example, 110.0.0.7, 10.0.0.71, registry-2, registry.example', undefined],
  ['the imXinternal stays', undefined],
])('the cleaned text of %j has no host name of the service', (text, left = text) => {
  expect(take(text)).toBe(left);
});

it('without hosts the text is unchanged', () => {
  expect(withoutHosts([''])('a text')).toBe('a text');
});
