import { describe, expect, it } from 'vitest';
import { events } from '../../src/log/events.ts';
import { codesIn, readPage, tableOf } from './markdown.ts';

// The queries for log stores ask for what the log has. No store runs here: their syntax was checked by reading.

const rows = tableOf(readPage('troubleshooting.md'), 'question').map((row) => ({
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
