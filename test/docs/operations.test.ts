import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settingDocs } from '../../src/settings/config.ts';
import { checkpointEveryMessages } from '../../src/settings/groups/constants.ts';
import { codesIn, readPage, tableOf } from './markdown.ts';

const page = readPage('operations.md');
const directory = 'test/e2e/operator';
const answers = readdirSync(directory)
  .map((name) => readFileSync(join(directory, name), 'utf8'))
  .join('\n');

describe('docs/operations.md', () => {
  it('names settings that exist', () => {
    const known = settingDocs().map(({ env }) => env);
    const named = codesIn(page).filter((code) =>
      /^(HUB|DELIVERY|STORE|CHECKPOINTS|DEAD_LETTERS|LOG)_[A-Z_]+$/.test(code),
    );
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((code) => !known.includes(code))).toEqual([]);
  });

  it('has a row for each store there is', () => {
    const stores = tableOf(page, '`STORE`').map((row) => codesIn(row['`STORE`'] ?? '')[0]);
    expect(stores).toEqual(['file', 'blob']);
  });

  const questions = tableOf(page, 'question').map((row) => row['question'] ?? '');

  it('answers all questions that operators ask', () => {
    expect(questions.length).toBeGreaterThan(5);
  });

  it.each(questions)('has a test for the question: %s', (question) => {
    expect(answers).toContain(question);
  });

  it('names commands that the image has', () => {
    const commands = [...page.matchAll(/node dist\/(\w+)\.js/g)].map(([, name = '']) => name);
    expect(new Set(commands)).toEqual(new Set(['admin', 'deadLetters', 'tap']));
    for (const name of commands) expect(readdirSync('src/programs')).toContain(`${name}.ts`);
  });
});

it.each([
  ['operations.md', /writes a checkpoint for each partition after (\d+)\s+messages/],
  ['guarantees.md', /messages handled since the last checkpoint: at most (\d+)/],
])('docs/%s says after how many messages a checkpoint is written', (name, words) => {
  expect(Number(words.exec(readPage(name))?.[1])).toBe(checkpointEveryMessages);
});
