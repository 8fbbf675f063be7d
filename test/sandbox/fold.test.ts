import { stripVTControlCharacters, styleText } from 'node:util';
import { describe, expect, it } from 'vitest';
import { fold } from '../../sandbox/terminal/fold.ts';

describe('A line that is folded', () => {
  it.each(['', 'short', '    exactly 20 columns', 'a b c d e f g h i j '])('stays as it is if it fits: %j', (line) => {
    expect(fold(line, 22)).toBe(line);
  });

  it('breaks before a word, with a larger indent', () => {
    expect(fold('  one two three four five', 12)).toBe('  one two\n      three\n      four\n      five');
  });

  it('breaks within a long word, after a separator or else anywhere', () => {
    expect(fold('GET /objects/12345/models/x', 14, 2)).toBe('GET /objects/\n  12345/\n  models/x');
    expect(fold('abcdefghij', 6, 2)).toBe('abcdef\n  ghij');
  });

  it('keeps every character except the spaces at its breaks, and its colours, which have no width', () => {
    const line = `    ${styleText('cyan', 'information model', { validateStream: false })}  GET    /objects/46115e05-f33c-51fc-b4ee-93fa6fc1e139/models/svc.configuration  200`;
    const folded = fold(line);
    expect(Math.max(...folded.split('\n').map((one) => stripVTControlCharacters(one).length))).toBeLessThanOrEqual(80);
    expect(folded.replaceAll(/\s/g, '')).toBe(line.replaceAll(/\s/g, ''));
  });
});
