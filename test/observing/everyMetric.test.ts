import type { Declaration } from '@device-messaging/telemetry/meter.ts';
import { describe, expect, it, vi } from 'vitest';
import { metrics as edgeMetrics } from '../../edge/src/observing/metrics.ts';
import { createMeter, type MetricName, methodMetrics, metrics, namesIn } from '../../src/observing/metrics.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { backends } from './chapters/backends.ts';
import { edgeNumbers, edgePoints } from './chapters/edge.ts';
import { messages } from './chapters/messages.ts';
import { methods } from './chapters/methods.ts';
import { processNumbers } from './chapters/process.ts';
import { reading } from './chapters/reading.ts';
import { sending } from './chapters/sending.ts';
import { state } from './chapters/state.ts';
import { storeCalls } from './chapters/stores.ts';
import { type Chapter, type Points, pointsOf, shortKey } from './support/points.ts';

// Every number of a program differs from all others: one under another name, or with the label of another, shows.

vi.mock('node:perf_hooks', async (original) => {
  const { monitorEventLoopDelay } = await import('./support/measured.ts');
  return { ...(await original<object>()), monitorEventLoopDelay };
});
vi.mock('node:v8', async (original) => {
  const { getHeapSpaceStatistics } = await import('./support/measured.ts');
  return { ...(await original<object>()), getHeapSpaceStatistics };
});

withFakeTimers();

/** They are read from the whole program: test/methods/metrics.test.ts, test/edge/metrics.test.ts, test/e2e/metrics.test.ts. */
const ofWholeProgram: readonly string[] = [
  'device_messaging.ready',
  'http.server.active_requests',
  'device_messaging.edge.invocations',
  'device_messaging.edge.connected',
];

const yesOrNo: readonly string[] = [
  'device_messaging.backend.out',
  'device_messaging.backend.access_refused',
  'device_messaging.edge.configuration.refused',
];

interface Program {
  readonly names: readonly string[];
  readonly declarations: Readonly<Record<string, Declaration>>;
  readonly table: Readonly<Record<string, Points>>;
  /** Lets the real parts record, and reads what is told of it. */
  readonly numbers: () => Promise<Readonly<Record<string, Points>>>;
}

function programOf(chapters: readonly Chapter[], names: readonly MetricName[]): Program {
  return {
    ...{ names, declarations: metrics, table: Object.assign({}, ...chapters.map(({ points }) => points)) },
    async numbers() {
      const meter = createMeter(names);
      for (const { record } of chapters) await record(meter);
      return pointsOf(meter);
    },
  };
}

const ofMethods = namesIn.methods.filter((name) => Object.hasOwn(methodMetrics, name));

describe.each<[string, Program]>([
  [
    'the service',
    programOf([messages, sending, reading, backends, storeCalls, state, processNumbers], namesIn.service),
  ],
  ['the front door', programOf([methods], ofMethods)],
  [
    'the edge proxy',
    { names: Object.keys(edgeMetrics), declarations: edgeMetrics, table: edgePoints, numbers: edgeNumbers },
  ],
])('of %s', (_, { names, declarations, table, numbers }) => {
  it('each number is exported under its own name, with its own labels', async () =>
    expect(await numbers()).toEqual(table));

  it('each metric has a row, and each value of its labels', () => {
    for (const name of names.filter((one) => !ofWholeProgram.includes(one))) {
      const rows = Object.keys(table[name] ?? {}).map((row) => ` ${row} `);
      expect(rows, name).not.toEqual([]);
      for (const { key, values } of declarations[name]?.attributes ?? []) {
        const label = ` ${shortKey(key)}=`;
        const isThere = (value: string) =>
          rows.some((row) => (value === '' ? !row.includes(label) : row.includes(`${label}${value} `)));
        expect(
          (values ?? []).filter((value) => !isThere(value)),
          `${name}, ${key}`,
        ).toEqual([]);
      }
    }
  });

  it('each number is unique', () => {
    const numbers = Object.entries(table).flatMap(([name, points]) =>
      yesOrNo.includes(name) ? [] : Object.entries(points).map(([of, value]) => [value, `${name} ${of}`] as const),
    );
    expect(numbers.filter(([value], index) => numbers.findIndex(([other]) => other === value) !== index)).toEqual([]);
  });
});
