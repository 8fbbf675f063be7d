import { readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, it } from 'vitest';
import { type Fault, faults, faultsIn, withFault } from './faults.ts';

// To try the faults takes minutes; whether they can be put in is known at once.

it.each(faults)('the fault can be put in, and is code: $file, $fault', (fault) => {
  const text = readFileSync(fault.file, 'utf8');
  const faulty = withFault(text, fault);
  expect(faulty).not.toBe(text);
  expect(() => parseAst(faulty, { lang: 'ts' })).not.toThrow();
});
it('the names of the faults of a file are unique', () => {
  const names = faults.map(({ fault, file }) => `${file}: ${fault}`);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

describe('the text of faults', () => {
  const sum: Fault = { fault: 'takes away', file: 'src/sum.ts', find: 'a + b', replace: 'a - b' };

  it('has files, names, what is found and what takes its place', () => {
    const text = 'src/sum.ts\n# takes away\na [-+-]{+-+} b\n\nsrc/two.ts\n# forgets\n[-one();\n  two();-]\n';
    const forgets = { fault: 'forgets', file: 'src/two.ts', find: 'one();\n  two();', replace: '' };
    expect(faultsIn(text)).toEqual([sum, forgets]);
  });

  it.each([
    ['whatever\n# one\n', /line 1 is no file/],
    ['src/sum.ts\na[- + b-]\n', /line 2 is no file/],
    ['src/sum.ts\n# one\n[-a-]{+b+}\nsrc/two.ts\n[-c-]\n', /line 5 is no file/],
    ['src/sum.ts\n# one\n{+b+}\n', /“one” has no file, or no text/],
    ['src/sum.ts\n# one\na + b\n', /“one” has no file, or no text/],
  ])('is refused with a line that is out of place: %j', (text, why) => expect(() => faultsIn(text)).toThrow(why));

  it.each(['', 'a + b; a + b'])('is refused where what is found does not stand once: %j', (text) =>
    expect(() => withFault(text, sum)).toThrow('src/sum.ts must contain exactly once what “takes away” changes: a + b'),
  );
});
