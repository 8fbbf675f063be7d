import { figure, type Interval, markdown, number, pairedRatio } from './figures.ts';
import type { Context, Measures, Opener, Subject, Workload } from './workloads/workload.ts';

export type Builds = Readonly<{ here: string; there: string }>;
type Side = keyof Builds;

/** What one measure was of both builds, round by round. */
export interface Compared extends Readonly<Record<Side, readonly number[]>> {
  readonly workload: string;
  readonly part: string;
  readonly measure: string;
}

/**
 * Measures each part of a workload with two builds. Each round starts both anew, as processes of one build differ from each other
 * in memory and in what V8 has compiled, and measures them in the order here, there, there, here, the next one the other
 * way round: what becomes faster or slower meanwhile concerns both alike.
 * @throws Error when a build does its work wrong
 */
export async function versus(
  { name, versus }: Pick<Workload, 'name' | 'versus'>,
  builds: Builds,
  context: Context,
): Promise<readonly Compared[]> {
  const compared: Compared[] = [];
  for (const [part, open] of Object.entries(versus(context))) {
    const measured: Record<Side, Measures[]> = { here: [], there: [] };
    for (let round = 1; round <= context.rounds; round += 1) {
      const order: readonly Side[] = round % 2 === 1 ? ['here', 'there'] : ['there', 'here'];
      const progress = (what: string) =>
        context.progress([part, `round ${round} of ${context.rounds}:`, what].filter(Boolean).join(' '));
      const means = await measureBoth(order, builds, open, progress);
      for (const side of order) measured[side].push(means[side]);
    }
    const of = (side: Side, measure: string) => measured[side].map((one) => one[measure] ?? Number.NaN);
    for (const measure of Object.keys(measured.here[0] ?? {}))
      compared.push({ workload: name, part, measure, here: of('here', measure), there: of('there', measure) });
  }
  return compared;
}

async function measureBoth(
  order: readonly Side[],
  builds: Builds,
  open: Opener,
  progress: (what: string) => void,
): Promise<Record<Side, Measures>> {
  const subjects: Partial<Record<Side, Subject>> = {};
  const measured: Record<Side, Measures[]> = { here: [], there: [] };
  try {
    for (const side of order) {
      progress(`${side} starts`);
      const subject = await open(builds[side]);
      subjects[side] = subject;
      if (!subject.isNewEachTime) await subject.measure(0);
    }
    const isOnce = Object.values(subjects).some(({ isNewEachTime }) => isNewEachTime);
    for (const side of isOnce ? order : [...order, ...order.toReversed()]) {
      progress(side);
      const measures = await subjects[side]?.measure(measured[side].length + 1);
      if (measures !== undefined) measured[side].push(measures);
    }
    for (const side of order) await subjects[side]?.check?.(measured[side].length);
  } finally {
    await Promise.all(Object.values(subjects).map((subject) => subject.close()));
  }
  return { here: meansOf(measured.here), there: meansOf(measured.there) };
}

const meansOf = (measured: readonly Measures[]): Measures =>
  Object.fromEntries(
    Object.keys(measured[0] ?? {}).map((name) => [
      name,
      measured.reduce((sum, one) => sum + (one[name] ?? Number.NaN), 0) / measured.length,
    ]),
  );

/** A Markdown table: medians, the ratio here / there, its interval, and whether that leaves 1 out. */
export const versusTable = (compared: readonly Compared[]): string =>
  markdown([
    ['workload', 'measure', 'here', 'there', 'here / there', '95 %', ''],
    ...compared.map(({ workload, part, measure, here, there }) => {
      const interval = pairedRatio(here, there);
      return [
        part === '' ? workload : `${workload}: ${part}`,
        measure,
        number(figure(here).median),
        number(figure(there).median),
        ...shownInterval(interval),
      ];
    }),
  ]);

function shownInterval({ ratio, low, high }: Interval): string[] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return ['', '', ''];
  return [ratio.toFixed(3), `${low.toFixed(3)}–${high.toFixed(3)}`, low > 1 ? 'more' : high < 1 ? 'less' : ''];
}
