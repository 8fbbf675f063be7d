import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { events as edgeEvents } from '../../edge/src/observing/log.ts';
import { events } from '../../src/observing/events.ts';
import { filesBelow } from '../support/imports.ts';
import { codesIn, readPage, tableOf } from './markdown.ts';

const page = readPage('log-events.md');

type Event = Readonly<{ levels: readonly string[]; message: string }>;

describe.each([
  ['event', 'src', 'src/observing/events.ts', events],
  ['event of the edge proxy', 'edge/src', 'edge/src/observing/log.ts', edgeEvents],
] as const)('docs/log-events.md, the table of each %s', (heading, root, list, known) => {
  const rows = tableOf(page, heading);
  const all: [string, Event][] = Object.entries(known);
  const code = [...filesBelow(root), ...filesBelow('telemetry/src')]
    .filter((file) => file !== list)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');

  const own = page.split(/^## /m).find((chapter) => chapter.includes(`| ${heading} |`)) ?? '';
  const forInformation = [...own.matchAll(/^- `([\w.]+)`: /gm)].map(([, name = '']) => [name, 'info']);

  it('has the events of the code, with their levels', () => {
    const listed = rows.map((row) => [codesIn(row[heading] ?? '')[0] ?? '', row['level'] ?? '']);
    const known = all.map(([name, { levels }]) => [name, levels.join(', ')]);
    expect([...listed, ...forInformation].toSorted()).toEqual(known.toSorted());
  });
  it.each(all)('has the event %s, whose text the code logs', (_, { message }) => {
    const [, what, name] = /^(waiting for|connected to) (the hub|the broker)$/.exec(message) ?? [];
    if (what === undefined) expect(code).toContain(message);
    else expect([code.includes(`\`${what} \${name}\``), code.includes(`name: '${name}'`)]).toEqual([true, true]);
  });
  it('has unique names and texts', () => {
    expect(new Set(all.map(([, { message }]) => message)).size).toBe(all.length);
    for (const [name] of all) expect(name).toMatch(/^[a-z_]+(\.[a-z_]+)+$/);
  });
  it('has every line: the log accepts only these texts, and no other code writes to it', () => {
    const creating = /from 'pino'|\bcreateLog\b[^;]* from '@device-messaging\/telemetry\/log\.ts'/;
    const writers = filesBelow(root).filter((file) => creating.test(readFileSync(file, 'utf8')));
    expect(writers).toEqual([list.replace('events.ts', 'log.ts')]);
  });
});
