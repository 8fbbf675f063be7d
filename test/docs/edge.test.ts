import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readPage } from './markdown.ts';

describe('docs/methods.md, about the edge', () => {
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
