import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { events } from '../../src/log/events.ts';
import { settingDocs } from '../../src/settings/config.ts';
import { roundMs, standstillMs } from '../../src/settings/derived.ts';
import { checkpointEveryMessages, letterCounts, spoolLimits, timing } from '../../src/settings/groups/constants.ts';
import { mebibyte } from '../../src/settings/groups/measures.ts';
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

it('docs/operations.md has a row for each store', () => {
  const stores = tableOf(readPage('operations.md'), '`STORE`').map((row) => codesIn(row['`STORE`'] ?? '')[0]);
  expect(stores).toEqual(['file', 'blob']);
});

describe('the questions of docs/troubleshooting.md', () => {
  const rows = tableOf(readPage('troubleshooting.md'), 'symptom');

  it('are the operators’ questions', () => expect(rows.length).toBeGreaterThan(5));

  it.each(rows.map(({ question = '' }) => question))('have a test: %s', (question) =>
    expect(answers).toContain(question),
  );

  it.each(rows)('have a symptom and a remedy: $question', ({ symptom, 'what to do': remedy }) => {
    expect(symptom).not.toBe('');
    expect(remedy).not.toBe('');
  });
});

it('docs/troubleshooting.md has exactly the stages that the tap shows', () => {
  const [, union = ''] = /export type Stage =\n(.*?);/s.exec(readFileSync('src/tap/taps.ts', 'utf8')) ?? [];
  const stages = [...union.matchAll(/'([^']+)'/g)].map(([, stage]) => stage);
  const rows = tableOf(readPage('troubleshooting.md'), 'stage');
  const listed = rows.flatMap(({ stage = '', 'what it says': says = '' }) => codesIn(`${stage} ${says}`));
  expect(stages.length).toBeGreaterThan(10);
  expect(new Set(listed)).toEqual(new Set(stages));
});

const defaultOf = (env: string) => Number(settingDocs().find((one) => one.env === env)?.default);
const stopSeconds = defaultOf('DELIVERY_DRAIN_SECONDS') + 30;
const roundSeconds = roundMs(timing.expirySeconds) / 1000;

/** As the pages write them, wherever they do. */
it.each([
  ['guarantees.md', `at most ${checkpointEveryMessages}, or those of ${timing.checkpointSeconds} s`],
  ['operations.md', `${checkpointEveryMessages} messages`],
  ['operations.md', `${timing.checkpointSeconds} s`],
  ['operations.md', `${roundSeconds} s`],
  ['operations.md', `${timing.expirySeconds} s`],
  ['operations.md', `${timing.expirySeconds + roundSeconds} s`],
  ['operations.md', `\`DELIVERY_DRAIN_SECONDS\` + ${timing.expirySeconds} s`],
  ['operations.md', `${standstillMs(timing.expirySeconds) / 1000} s`],
  ['operations.md', `${stopSeconds} by default`],
  ['first-deployment.md', `--stop-timeout ${stopSeconds}`],
  ['operations.md', `${spoolLimits.maxBytes / mebibyte} MiB`],
  ['operations.md', letterCounts.maxLetters.toLocaleString('en')],
  ['operations.md', `${letterCounts.deviceLetters.toLocaleString('en')} dead letters`],
  ['operations.md', `${Math.round(defaultOf('DEAD_LETTERS_MAX_BYTES') / 1e7) / 10} MB`],
])('docs/%s has the number of the code: %s', (name, number) =>
  expect(readPage(name).replace(/\s+/g, ' ')).toContain(number),
);
