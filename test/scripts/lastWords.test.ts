import { expect, it } from 'vitest';
import { createLastWords } from '../../scripts/ci/lastWords.ts';
import { runStep } from '../../scripts/ci/step.ts';

/** What is left of a text, which comes in small parts. */
function wordsOf(text: string): string[] {
  const words = createLastWords();
  const hear = words.listener();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 7) hear(bytes.subarray(at, at + 7));
  return words.lines();
}
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `line ${n}`);
const text = (...lines: string[]) => lines.map((line) => `${line}\n`).join('');

it('the last words are the lines with the cause and their neighbours, without colours', () => {
  const [first, last] = [numbered(20), numbered(30)];
  expect(wordsOf(text(...first, '\u001b[31m× a bad name\u001b[39m', '', ...last))).toEqual([
    'line 18',
    'line 19',
    '× a bad name',
    'line 0',
    'line 1',
    'line 2',
  ]);
});

it('the last words are the last lines when no line has the cause', () =>
  expect(wordsOf(text(...numbered(20)))).toEqual(numbered(20).slice(-10)));

it('the last words are bounded for any output', () => {
  const lines = wordsOf(text(...numbered(100).map((line) => `failed: ${line} ${'é'.repeat(400)}`)));
  expect(lines).toHaveLength(30);
  expect(lines.at(-1)).toMatch(/^failed: line 99 é{1,300}$/);
  for (const line of lines) expect(line).toHaveLength(300);
});

it.each([
  ['lint', 'src/a.ts:1:1 lint/x ━━━\n\n  × This is unused.\n'],
  ['deliberate faults', 'escaped: takes any escape\n      wanted: a title\n'],
  ['chaos', 'FAILED seed 2: 2160 messages\n         state:  a clean stop ended with exit code null\n'],
])('the last words have the cause of a failure of %s', (_, said) => {
  const lines = said.split('\n').filter((line) => line !== '');
  expect(wordsOf(`${said}${text('caught  many', 'caught  others')}`)).toEqual(lines);
});

it('the last words of a step come from both of its streams, up to the end', async () => {
  const words = createLastWords();
  const script = 'echo said; echo "error: told" >&2; exit 1';
  const why = await runStep(['sh', '-c', script], { limitMs: 60_000, listener: words.listener });
  expect(why).toBe('exit code 1');
  expect(words.lines()).toContain('error: told');
});
