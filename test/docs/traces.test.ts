import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { filesBelow } from '../support/imports.ts';
import { codesIn, readPage, tableOf } from './markdown.ts';

const page = readPage('operations.md');
const rows = tableOf(page, 'span');
const code = filesBelow('src')
  .filter((file) => /src\/observing\/|fileInputs\.ts$/.test(file))
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
  const read = ['src/tracing/openTraces.ts', 'src/metrics/signals.ts']
    .flatMap((file) => readFileSync(file, 'utf8').match(/OTEL_(?:\w|\$\{signal\})+/g) ?? [])
    .filter((name) => !/METRIC/.test(name))
    .map((name) => name.replace(/\$\{signal\}/, 'TRACES'));
  expect(new Set(read).size).toBeGreaterThan(7);
  for (const name of read) expect(variables).toContain(name);
});
