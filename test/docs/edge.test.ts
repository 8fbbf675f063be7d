import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codesIn, readPage, tableOf } from './markdown.ts';

const source = readdirSync('edge/src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join('edge/src', name), 'utf8'))
  .join('\n');

describe('docs/methods.md, about the edge', () => {
  const alerts = tableOf(readPage('methods.md'), 'in the log of the proxy');

  it.each(alerts.flatMap((row) => codesIn(row['in the log of the proxy'] ?? '')))(
    'has an alert on a line that the proxy can log: %s',
    (sentence) => {
      const [, what, name] = /^(waiting for|connected to) (the hub|the broker)$/.exec(sentence) ?? [];
      if (what === undefined) expect(source).toContain(sentence);
      else expect([source.includes(`${what} $`), source.includes(`name: '${name}'`)]).toEqual([true, true]);
    },
  );

  it('names every field of the line of an invocation', () => {
    const fields = [...readFileSync('edge/src/invocations/invocationLog.ts', 'utf8').matchAll(/^ {2}(\w+)\?:/gm)].map(
      ([, name]) => name,
    );
    expect(fields.length).toBeGreaterThan(9);
    for (const field of [...fields, 'methodStatus', 'status', 'reason', 'details']) {
      expect(readPage('methods.md')).toContain(`\`${field}\``);
    }
  });
});
