import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { events } from '../../src/log/events.ts';
import { settingDocs } from '../../src/settings/config.ts';
import { codesIn, readPage, tableOf } from './markdown.ts';

const names = ['first-deployment.md', 'troubleshooting.md', 'operations.md'] as const;
const directory = 'test/e2e/operator';
const answers = readdirSync(directory)
  .map((name) => readFileSync(join(directory, name), 'utf8'))
  .join('\n');

describe.each(names)('docs/%s', (name) => {
  const page = readPage(name);

  it('names existing settings only', () => {
    const known = settingDocs().map(({ env }) => env);
    const isSetting = (code: string) => /^(HUB|DELIVERY|STORE|CHECKPOINTS|DEAD_LETTERS|LOG)_[A-Z_]+$/.test(code);
    const named = codesIn(page).filter(isSetting);
    expect(named).not.toEqual([]);
    expect(named.filter((code) => !known.includes(code))).toEqual([]);
  });

  it('names existing log events only', () => {
    const areas = new Set(Object.keys(events).map((event) => event.split('.')[0]));
    areas.delete('http'); // attributes of spans begin so, too
    const named = codesIn(page).filter((code) => /^[a-z_]+\.[a-z_]+$/.test(code) && areas.has(code.split('.')[0]));
    expect(named).not.toEqual([]);
    expect(named.filter((event) => !Object.hasOwn(events, event))).toEqual([]);
  });

  it('names existing commands of the image only', () => {
    const commands = [...page.matchAll(/\bdist\/(\w+)\.js/g)].map(([, command]) => `${command}.ts`);
    expect(commands).not.toEqual([]);
    expect(readdirSync('src/programs')).toEqual(expect.arrayContaining(commands));
  });
});

const questions = tableOf(readPage('troubleshooting.md'), 'symptom').map(({ question = '' }) => question);
it.each(questions)('the question of docs/troubleshooting.md has a test: %s', (question) =>
  expect(answers).toContain(question),
);

it('docs/troubleshooting.md has exactly the stages that the tap shows', () => {
  const [, union = ''] = /export type Stage =\n(.*?);/s.exec(readFileSync('src/tap/taps.ts', 'utf8')) ?? [];
  const stages = [...union.matchAll(/'([^']+)'/g)].map(([, stage]) => stage);
  const rows = tableOf(readPage('troubleshooting.md'), 'stage');
  const listed = rows.flatMap(({ stage = '', 'what it says': says = '' }) => codesIn(`${stage} ${says}`));
  expect(stages.length).toBeGreaterThan(10);
  expect(new Set(listed)).toEqual(new Set(stages));
});
