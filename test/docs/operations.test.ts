import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { events } from '../../src/observing/events.ts';
import { settingDocs } from '../../src/settings/config.ts';
import { filesBelow } from '../support/imports.ts';
import { codesIn, readPage, tableOf } from './markdown.ts';

const names = ['first-deployment.md', 'operations.md'] as const;

it.each([...names, 'methods.md'])('docs/%s names existing settings only', (name) => {
  const known = settingDocs().map(({ env }) => env);
  const isSetting = (code: string) => /^(HUB|DELIVERY|STORE|CHECKPOINTS|DEAD_LETTERS|LOG|METHODS)_[A-Z_]+$/.test(code);
  const named = codesIn(readPage(name)).filter(isSetting);
  expect(named).not.toEqual([]);
  expect(named.filter((code) => !known.includes(code))).toEqual([]);
});

describe.each(names)('docs/%s', (name) => {
  const page = readPage(name);

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

it('docs/operations.md has exactly the stages that the tap shows', () => {
  const [, union = ''] =
    /export type Stage = .*?\n(.*?)\n\n/s.exec(readFileSync('src/observing/taps.ts', 'utf8')) ?? [];
  const stages = [...union.matchAll(/'([^']+)'/g)].map(([, stage]) => stage);
  const rows = tableOf(readPage('operations.md'), 'stage');
  const listed = rows.flatMap(({ stage = '', 'what it says': says = '' }) => codesIn(`${stage} ${says}`));
  expect(stages.length).toBeGreaterThan(10);
  expect(new Set(listed)).toEqual(new Set(stages));
});

// The queries for log stores ask for what the log has. No store runs here: their syntax was checked by reading.

const rows = tableOf(readPage('operations.md'), 'question').map((row) => ({
  question: row['question'] ?? '',
  kusto: codesIn(row['Azure Monitor'] ?? '').join(' '),
  loki: codesIn(row['Loki'] ?? '').join(' '),
}));

const ofHandled = tableOf(readPage('operations.md'), 'field').flatMap((row) => codesIn(row['field'] ?? ''));
const ofOthers = ['level', 'time', 'event', 'msg', 'instance', 'version', 'build', 'before'];
const fields = [...ofHandled, ...ofOthers];

const kustoFields = (query: string) => [...query.matchAll(/\bline\.(\w+)/g)].map(([, name]) => name);
const lokiFields = (query: string) =>
  [...query.replaceAll('\\|', '|').matchAll(/(?<![\w"])(\w+)(?:=~?|!=| [<>] )/g)].map(([, name]) => name);
const valuesIn = (query: string) =>
  [...query.matchAll(/"([^"]+)"/g)].flatMap(([, text = '']) => text.split('\\|')).toSorted();

describe.each(rows)('$question', ({ kusto, loki }) => {
  it('uses existing log fields in both query languages', () => {
    for (const named of [kustoFields(kusto), lokiFields(loki)]) {
      expect(named).not.toEqual([]);
      expect(fields).toEqual(expect.arrayContaining(named));
    }
  });
  it('uses the same values in both languages, and existing events', () => {
    expect(valuesIn(loki)).toEqual(valuesIn(kusto));
    const named = valuesIn(kusto).filter((value) => /^[a-z_]+\.[a-z_]+$/.test(value));
    expect(Object.keys(events)).toEqual(expect.arrayContaining(named));
  });
});

it('several questions have queries for log stores', () => expect(rows.length).toBeGreaterThan(5));

describe('traces', () => {
  const page = readPage('operations.md');
  const rows = tableOf(page, 'span');
  const code = filesBelow('src')
    .filter((file) => /src\/observing\/(?!events|\w*[mM]etrics)|fileInputs\.ts$/.test(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');

  it('docs/operations.md has exactly the attributes of spans', () => {
    const isAttribute = (text: string) => /^(http|messaging|server|svc)\.[\w.]+$/.test(text);
    const documented = rows.flatMap((row) => codesIn(row['attributes'] ?? '')).filter(isAttribute);
    const written = [...code.matchAll(/'([\w.]+)':/g)].map(([, name = '']) => name).filter(isAttribute);
    expect(new Set(documented)).toEqual(new Set(written));
    expect(written.length).toBeGreaterThan(20);
  });
  it('docs/operations.md has the variables that the code reads', () => {
    const variables = tableOf(page, 'variable').flatMap((row) => codesIn(row['variable'] ?? ''));
    const read = (readFileSync('src/observing/traces.ts', 'utf8').match(/OTEL_(?:\w|\$\{signal\})+/g) ?? [])
      .filter((name) => !/METRIC/.test(name))
      .map((name) => name.replace(/\$\{signal\}/, 'TRACES'));
    expect(new Set(read).size).toBeGreaterThan(7);
    for (const name of read) expect(variables).toContain(name);
  });
});
