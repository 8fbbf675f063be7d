import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import { type InputSeries, readRecording, shortened } from '../../scripts/recording/series.ts';

/** In CI a program of a Debian package is there, or the tests fail; elsewhere they are skipped. */
export function isMissing(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return process.env['CI'] !== 'true';
  }
}

export const isSkipped = isMissing('promtool');

export const promtool = async (...args: string[]): Promise<string> =>
  promisify(execFile)('promtool', args, { maxBuffer: 2 ** 26 }).then(
    ({ stdout }) => stdout,
    ({ message, stdout, stderr }) => `failed: ${stdout || message}${stderr}`,
  );

export interface Answer {
  readonly expression: string;
  readonly minute: number;
  readonly samples: string;
}

/** What Prometheus scraped in an environment. */
export interface Played {
  readonly recording: string;
  readonly namespace: string;
  /** From so many scrapes on, these instances, or all, do not answer any more; of `forgotten` ones Prometheus has no target either. */
  readonly silent?: Readonly<{ from: number; instances?: readonly string[]; forgotten?: boolean }>;
  /** Only so many scrapes of the recording are played. */
  readonly ends?: number;
  /** The last values stay until so many scrapes. */
  readonly lasts?: number;
}

const notation = /^(_|stale|-?\d+(?:\.\d+)?(?:e[-+]\d+)?)(?:x(\d+))?$/;
type Value = number | 'stale' | undefined;

/** @throws Error at what is no notation of values */
const valuesOf = (text: string): readonly Value[] =>
  text.split(' ').flatMap((part) => {
    const [, value, times = '0'] = notation.exec(part) ?? [];
    if (value === undefined) throw new Error(`no values: ${part}`);
    if (value === '_') return Array.from<undefined>({ length: Number(times) });
    return Array.from<Value>({ length: Number(times) + 1 }).fill(value === 'stale' ? value : Number(value));
  });

function seriesIn({ recording, namespace, silent, ends, lasts = 0 }: Played): readonly InputSeries[] {
  return readRecording(recording).series.map(({ series, values: text }) => {
    const [, instance = ''] = /[{,]instance="(\w+)"/.exec(series) ?? [];
    const isUp = series.startsWith('up{');
    const isSilent = silent !== undefined && (silent.instances?.includes(instance) ?? true);
    const all = valuesOf(text).slice(0, ends);
    const values = [...all, ...Array.from<Value>({ length: Math.max(0, lasts - all.length) }).fill(all.at(-1))];
    const heard = values.map((value, index): Value => {
      if (!isSilent || index < silent.from) return value;
      return isUp && !silent.forgotten ? 0 : undefined;
    });
    return { series: series.replace('{', `{namespace=${JSON.stringify(namespace)},`), values: shortened(heard) };
  });
}

/**
 * Asks what Prometheus scraped. Only answers that are not empty come: `promtool` is told to expect nothing, and says what there is
 * instead.
 * @param minutes with fractions, where a scrape is not a minute long
 * @throws Error when an expression is none
 */
export async function ask(
  played: readonly Played[],
  expressions: readonly string[],
  minutes: readonly number[],
  { rules = [], scrapeSeconds = 60, more = [] }: AskOptions = {},
): Promise<readonly Answer[]> {
  const directory = mkdtempSync(join(tmpdir(), 'promtool-'));
  try {
    const file = join(directory, 'test.yaml');
    const checks = expressions.flatMap((expr) => minutes.map((minute) => ({ expr, eval_time: `${minute * 60}s` })));
    const input_series = [...played.flatMap(seriesIn), ...more];
    const test = { interval: `${scrapeSeconds}s`, input_series, promql_expr_test: checks };
    writeFileSync(
      file,
      JSON.stringify({
        rule_files: rules.map((path) => resolve(path)),
        ...{ evaluation_interval: `${scrapeSeconds}s`, tests: [test] },
      }),
    );
    const said = await promtool('test', 'rules', file);
    const found = said.matchAll(
      /expr: ("(?:[^"\\]|\\.)*"), time: (?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?,?\s+exp:.*\s+got:(.*)/g,
    );
    const answers = [...found].map(([, expression = '""', hours = '0', rest = '0', seconds = '0', samples = '']) => ({
      expression: JSON.parse(expression) as string,
      minute: Number(hours) * 60 + Number(rest) + Number(seconds) / 60,
      samples,
    }));
    if (said.startsWith('failed') && answers.length === 0) throw new Error(said);
    return answers;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

interface AskOptions {
  readonly rules?: readonly string[];
  readonly scrapeSeconds?: number;
  readonly more?: readonly InputSeries[];
}

export interface Firing {
  readonly minute: number;
  readonly alert: string;
  readonly severity: string;
  /** Absent in an alert about what there never was. */
  readonly namespace?: string;
  readonly job?: string;
}

export async function firing(...[played, minutes, options]: FiringArguments): Promise<readonly Firing[]> {
  const expression = 'count by (alertname, namespace, job, severity) (ALERTS{alertstate="firing"})';
  const answers = await ask(played, [expression], minutes, { rules: [ruleFile], ...options });
  return answers.flatMap(({ minute, samples }) =>
    [...samples.matchAll(/\{([^}]*)\}/g)].map(([, labels = '']) => {
      const { alertname: alert = '', severity = '', ...of } = labelsIn(labels);
      return { minute, alert, severity, ...of };
    }),
  );
}

type FiringArguments = [played: readonly Played[], minutes: readonly number[], options?: AskOptions];

export const ruleFile = 'deploy/monitoring/alerts.yaml';

const labelsIn = (labels: string): Readonly<Record<string, string>> =>
  Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
