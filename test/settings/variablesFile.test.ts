import { expect, it } from 'vitest';
import { readEnvFile } from '../../src/settings/config.ts';

it.each([
  ['A=b#c', 'b#c'],
  ['A=#b', '#b'],
  ['A="b=c"', '"b=c"'],
  ["A= 'b' ", " 'b' "],
  ['  A=b\\nc\r', 'b\\nc'],
  ['\ufeffA=', ''],
  ['# A=b\n\n#\nA=$B', '$B'],
])('%j has the value that a container engine passes', (text, value) =>
  expect(readEnvFile(`${text}\nB\n`)).toEqual({ variables: { A: value }, problems: [] }),
);

it.each([
  ['A=s3cret # of the hub', /^line 2: A: the comment behind its value would be part of it/],
  ['A=\t# none', /^line 2: A: the comment behind its value would be part of it/],
  ['export A=s3cret', /^line 2: export A: must be NAME=value/],
  ['A = s3cret', /^line 2: A : must be NAME=value/],
  ['=s3cret', /^line 2: : must be NAME=value/],
])('%j, which not all read alike, is refused with its line and without its value', (line, problem) => {
  const { variables, problems } = readEnvFile(`B=1\n${line}\n`);
  expect([variables, problems]).toEqual([{ B: '1' }, [expect.stringMatching(problem)]]);
  expect(problems.join()).not.toContain('s3cret');
});
