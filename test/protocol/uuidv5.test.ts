import fc from 'fast-check';
import { v5 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { uuidv5 } from '../../src/protocol/ids.ts';

describe('a derived UUID', () => {
  it('equals the example of RFC 9562', () =>
    expect(uuidv5('www.example.com', '6ba7b810-9dad-11d1-80b4-00c04fd430c8')).toBe(
      '2ed6657d-e927-568b-95e1-2665a8aea6a2',
    ));

  it('equals that of another implementation, for any name and namespace', () => {
    const name = fc.string({ unit: 'binary', maxLength: 100 });
    fc.assert(
      fc.property(name, fc.uuid(), (name, namespace) => {
        expect(uuidv5(name, namespace)).toBe(v5(name, namespace));
      }),
      { numRuns: 100 },
    );
  });

  it('is the same for a namespace in upper case', () => {
    const namespace = 'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a11';
    expect(uuidv5('a', namespace.toUpperCase())).toBe(uuidv5('a', namespace));
  });

  it.each([
    '',
    'nobody',
    'd3f3b7c6-52a1-5c0e-9c39',
    'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a1x',
    'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7ax1',
    'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a111',
    'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a/:',
    'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a@`',
  ])('refuses a namespace that is not a UUID, such as %j', (namespace) =>
    expect(() => uuidv5('a', namespace)).toThrow('the namespace is not a UUID'),
  );
});
