import { afterEach, describe, expect, it, vi } from 'vitest';
import { methodMetrics } from '../../src/metrics/declared/methods.ts';
import { createMeter } from '../../src/metrics/meter.ts';
import { declarationOf, type MetricName, namesIn } from '../../src/metrics/metrics.ts';
import { withFakeTimers } from '../support/fakeTimers.ts';
import { backends } from './chapters/backends.ts';
import { messages } from './chapters/messages.ts';
import { methods } from './chapters/methods.ts';
import { processNumbers } from './chapters/process.ts';
import { reading } from './chapters/reading.ts';
import { sending } from './chapters/sending.ts';
import { state } from './chapters/state.ts';
import { type Chapter, pointsOf, shortKey } from './support/points.ts';

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
afterEach(() => void vi.restoreAllMocks());

/** It is read from the whole front door: test/methods/metrics.test.ts. */
const ofWholeProgram: readonly string[] = ['http.server.active_requests'];

/** 1 or 0, by the state of the circuit. */
const yesOrNo = 'device_messaging.backend.out';

describe.each<[string, readonly Chapter[], readonly MetricName[]]>([
  ['the service', [messages, sending, reading, backends, state, processNumbers], namesIn.service],
  ['the front door', [methods], namesIn.methods.filter((name) => Object.hasOwn(methodMetrics, name))],
])('of %s', (_, chapters, names) => {
  const table = Object.assign({}, ...chapters.map(({ points }) => points)) as Chapter['points'];

  it('each number is told under its own name, with its own labels', async () => {
    const meter = createMeter(names);
    for (const { record } of chapters) await record(meter);
    expect(await pointsOf(meter)).toEqual(table);
  });

  it('each metric has a row, and each value of its labels', () => {
    for (const name of names.filter((one) => !ofWholeProgram.includes(one))) {
      const rows = Object.keys(table[name] ?? {}).map((row) => ` ${row} `);
      expect(rows, name).not.toEqual([]);
      for (const { key, values } of declarationOf(name).attributes) {
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

  it('no number is like another', () => {
    const numbers = Object.entries(table).flatMap(([name, points]) =>
      name === yesOrNo ? [] : Object.entries(points).map(([labels, value]) => [value, `${name} ${labels}`] as const),
    );
    const twice = numbers.filter(([value], index) => numbers.findIndex(([other]) => other === value) !== index);
    expect(twice).toEqual([]);
  });
});
