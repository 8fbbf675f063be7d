import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../src/command/options.ts';
import { requestFor } from '../src/command/remote.ts';
import { faultKinds } from '../src/faults/kinds.ts';
import { parseFault } from '../src/faults/schema.ts';

const page = readFileSync('docs/sandbox.md', 'utf8');

describe('the page about the sandbox', () => {
  test('names every kind of fault, and no other', () => {
    const [section = ''] = page.split('\n## Faults\n')[1]?.split('\n## ') ?? [];
    const rows = section.split('\n').filter((line) => /^\| `/.test(line));
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect(named.toSorted()).toEqual(
      faultKinds()
        .map(({ kind }) => kind)
        .toSorted(),
    );
  });
  const commands = [...page.matchAll(/^npm run (?:-s )?hub -- (.*?)(?: +#.*)?$/gm)].map(([, words = '']) => words);
  test('has commands', () => expect(commands.length).toBeGreaterThan(10));
  test.each(commands)('has a command that works: %s', (line) => {
    const { words, help } = readArguments(line.split(' '), '/', '/');
    if (words.length === 0 || help) return;
    const { path, body } = requestFor(words);
    if (path === '/faults' && body) parseFault(body);
  });
  const bodies = [...page.matchAll(/^curl -d '(.*)' \$ADMIN\/faults$/gm)].map(([, body = '']) => body);
  test.each(bodies)('has a fault that is one: %s', (body) => {
    expect(() => parseFault(JSON.parse(body))).not.toThrow();
  });
});
