import { readFileSync } from 'node:fs';
import { type MemoryPart, memoryNeeded, methodsMemory, serviceMemory } from '../src/operations/machineProbes.ts';
import { mebibyte } from '../src/settings/constants.ts';
import { schema } from '../src/settings/table.ts';
import { costTable, type Run, sizingTable } from '../test/bench/absoluteTables.ts';
import { table, withTexts } from './writtenPart.ts';

const { delivery, backends, replies } = schema;
const defaults = {
  delivery: { maxMessages: delivery.maxMessages.default, maxBytes: delivery.maxBytes.default, drainSeconds: 0 },
  backends: { connections: backends.connections.default },
  replies: { fullQueueBytes: replies.fullQueueBytes.default },
} as Parameters<(typeof serviceMemory)[number]['bytes']>[0];

const rounded = (bytes: number) => `${Math.ceil(bytes / mebibyte)} MiB`;

const tableOf = (name: string, parts: readonly MemoryPart<typeof defaults>[]): string =>
  table(
    [name, 'at most', 'by default'],
    [
      ...parts.map(({ what, most, bytes }) => [what, most, rounded(bytes(defaults))]),
      ['**the sum**', '', `**${rounded(memoryNeeded(parts, defaults))}**`],
    ],
  );

const memoryTables = `${tableOf('the service', serviceMemory)}\n\n${tableOf('the front door', methodsMemory)}`;

/** The tables of `docs/maintainers/performance.md`: of what the bench measured and wrote to `docs/measurements`, and of memory. */
export function withTables(page: string): string {
  const now: Run = JSON.parse(readFileSync('docs/measurements/now.json', 'utf8')).measured;
  return withTexts(page, { cost: costTable(now), 'one instance': sizingTable(now), memory: memoryTables });
}
