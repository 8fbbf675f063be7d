import { describe, expect, it } from 'vitest';
import { resultCodes } from '../../src/protocol/vocabulary.ts';
import { codesIn, readPage, tableOf } from './markdown.ts';

const page = readPage('result-codes.md');
const rows = tableOf(page, 'code');

const whoCanHelp = { nobody: 'nobody has to', device: 'the device', hub: 'the hub', service: 'the service' } as const;

describe('docs/result-codes.md', () => {
  it('lists exactly the existing codes {S20.1}', () =>
    expect(rows.flatMap(({ code = '' }) => codesIn(code))).toEqual(Object.keys(resultCodes)));
  it('names for each the side at fault, like the service', () => {
    const said = rows.map((row) => row['who can do something about it']);
    expect(said).toEqual(Object.values(resultCodes).map(({ fault }) => whoCanHelp[fault]));
  });

  it('has the meaning of each and whether sending it again makes sense', () => {
    for (const row of rows) {
      expect(row['what happened']).not.toBe('');
      expect(row['send it again?']).not.toBe('');
    }
  });

  it('has a chapter for each', () => {
    const chapters = [...page.matchAll(/^### `(\w+)`$/gm)].map(([, code]) => code);
    expect(chapters).toEqual(Object.keys(resultCodes));
  });
});
