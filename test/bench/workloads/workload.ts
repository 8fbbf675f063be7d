import { projectDirectory } from '../../../sandbox/state/directories.ts';
import { type Absolute, figure, type Goal, type Row, row, type Unit } from '../figures.ts';

export interface Context {
  /** Sizes scaled down, to see that everything works: V8 has not optimised the programs, so goals and slopes mean nothing. */
  readonly quick: boolean;
  readonly rounds: number;
  progress(what: string): void;
}

export interface Result {
  readonly rows: readonly Row[];
  readonly absolute: readonly Absolute[];
}

/** What was measured of one build. The names have the units: `CPU, µs`. */
export type Measures = Readonly<Record<string, number>>;

export interface Subject {
  /** Each measurement starts the build: there is nothing to warm up, and one is enough for a round. */
  readonly isNewEachTime?: true;
  /** @param nth from 1 to `measurements`; 0 is the warm-up */
  measure(nth: number): Promise<Measures>;
  /** @throws Error when something is missing or wrong after so many measurements */
  check?(measurements: number): Promise<void>;
  close(): Promise<void>;
}

export const measurements = 2;

/**
 * Has a build begin.
 * @param build the folder of a checkout that is built
 */
export type Opener = (build: string) => Promise<Subject>;

/** Of a build that each measurement starts anew. */
export const anew =
  (measure: (build: string) => Promise<Measures>): Opener =>
  async (build) => ({ isNewEachTime: true, measure: () => measure(build), close: async () => {} });

export interface Workload {
  readonly name: string;
  readonly about: string;
  /** Measured from the start of a process on; else V8 has optimised what is measured. */
  readonly isCold?: true;
  run(context: Context): Promise<Result>;
  /** What `--vs` measures with two builds, by name; where there is one part only, its name is empty. */
  readonly versus: (context: Context) => Readonly<Record<string, Opener>>;
}

interface Alone extends Pick<Workload, 'name' | 'about' | 'isCold'> {
  /** As in `versus`. */
  readonly parts: Workload['versus'];
  /** Of rounds: it takes long. */
  readonly most: number;
  /** By the names of measures. */
  readonly goals?: Readonly<Record<string, Goal>>;
}

/** A workload of which a build is measured beside nothing else: a row for each measure of a part. */
export const alone = ({ parts, most, goals = {}, ...workload }: Alone): Workload => ({
  ...workload,
  versus: parts,
  async run(context) {
    const rounds = Math.min(context.rounds, most);
    const rows: Row[] = [];
    for (const [part, open] of Object.entries(parts(context))) {
      const subject = await open(projectDirectory);
      const measured: Measures[] = [];
      try {
        for (let round = subject.isNewEachTime ? 1 : 0; round <= rounds; round += 1) {
          context.progress(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`);
          const measures = await subject.measure(round);
          if (round > 0) measured.push(measures);
        }
      } finally {
        await subject.close();
      }
      for (const { name, what, figure, unit } of figuresOf(measured))
        rows.push(row(part === '' ? what : `${what}, ${part}`, figure, unit, goals[name]));
    }
    return { rows, absolute: [] };
  },
});

/** Of what was measured round by round, by its names. */
export const figuresOf = (measured: readonly Measures[]) =>
  Object.keys(measured[0] ?? {}).map((name) => {
    const [, what = name, unit = ''] = /^(.*), (.*)$/.exec(name) ?? [];
    return { name, what, figure: figure(measured.map((one) => one[name] ?? Number.NaN)), unit: unit as Unit };
  });
