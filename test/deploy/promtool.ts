import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import { readRecording } from '../../scripts/recording/series.ts';

const hasPromtool = (() => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** In CI it is there, or the tests fail; elsewhere they are skipped. */
export const isSkipped = !hasPromtool && process.env['CI'] !== 'true';

/** Its output; that of a failure begins with `failed`. */
export const promtool = async (...args: string[]): Promise<string> =>
  promisify(execFile)('promtool', args, { maxBuffer: 2 ** 26 }).then(
    ({ stdout }) => stdout,
    ({ message, stdout, stderr }) => `failed: ${stdout || message}${stderr}`,
  );

export interface Answer {
  readonly expression: string;
  readonly minute: number;
  /** The samples in the notation of Prometheus. */
  readonly samples: string;
}

/**
 * Asks a recording, whose scrapes are a minute apart. Only answers that are not empty come: `promtool` is told to expect nothing,
 * and says what there is instead.
 * @throws Error when an expression is none
 */
export async function ask(
  recording: string,
  expressions: readonly string[],
  minutes: readonly number[],
  rules: readonly string[] = [],
): Promise<readonly Answer[]> {
  const { series } = readRecording(recording);
  const directory = mkdtempSync(join(tmpdir(), 'promtool-'));
  try {
    const file = join(directory, 'test.yaml');
    const checks = expressions.flatMap((expr) => minutes.map((minute) => ({ expr, eval_time: `${minute}m` })));
    const test = { interval: '1m', input_series: series, promql_expr_test: checks };
    writeFileSync(
      file,
      JSON.stringify({ rule_files: rules.map((path) => resolve(path)), evaluation_interval: '1m', tests: [test] }),
    );
    const said = await promtool('test', 'rules', file);
    const found = said.matchAll(/expr: ("(?:[^"\\]|\\.)*"), time: (?:(\d+)h)?(?:(\d+)m)?\S*,?\s+exp:.*\s+got:(.*)/g);
    const answers = [...found].map(([, expression = '""', hours = '0', rest = '0', samples = '']) => ({
      expression: JSON.parse(expression) as string,
      minute: Number(hours) * 60 + Number(rest),
      samples,
    }));
    if (said.startsWith('failed') && answers.length === 0) throw new Error(said);
    return answers;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
