import { markdown, number } from './printer.ts';
import { figure, type Interval, pairedRatio } from './statistics.ts';
import type { Context, Measures, Subject, Workload } from './workloads/workload.ts';

/** The folders of two checkouts that are built. */
export interface Builds {
  readonly here: string;
  readonly there: string;
}
type Side = keyof Builds;

/** What one measure was in both builds, round by round. */
export interface Compared extends Readonly<Record<Side, readonly number[]>> {
  readonly workload: string;
  readonly part: string;
  readonly measure: string;
}

/**
 * Measures each part of a workload with two builds: both are up from the first round to the last, each round measures both,
 * one after the other, and begins with the other one each time.
 * @throws Error when a build does its work wrong
 */
export async function versus(
  { name, versus }: Pick<Workload, 'name' | 'versus'>,
  builds: Builds,
  context: Context,
): Promise<readonly Compared[]> {
  const compared: Compared[] = [];
  for (const [part, open] of Object.entries(versus?.(context) ?? {})) {
    const subjects = new Map<Side, Subject>();
    const measured: Record<Side, Measures[]> = { here: [], there: [] };
    try {
      for (const side of ['here', 'there'] as const) {
        context.progress([part, side, 'starts'].filter(Boolean).join(' '));
        subjects.set(side, await open(builds[side]));
        await subjects.get(side)?.measure(0);
      }
      for (let round = 1; round <= context.rounds; round += 1) {
        for (const [side, subject] of round % 2 === 1 ? subjects : [...subjects].reverse()) {
          context.progress([part, `round ${round} of ${context.rounds}:`, side].filter(Boolean).join(' '));
          measured[side].push(await subject.measure(round));
        }
      }
      for (const subject of subjects.values()) await subject.check?.(context.rounds);
    } finally {
      await Promise.all([...subjects.values()].map((subject) => subject.close()));
    }
    const of = (side: Side, measure: string) => measured[side].map((one) => one[measure] ?? Number.NaN);
    for (const measure of Object.keys(measured.here[0] ?? {})) {
      compared.push({ workload: name, part, measure, here: of('here', measure), there: of('there', measure) });
    }
  }
  return compared;
}

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
