import { relative } from 'node:path';
import { z } from 'zod';

const report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(
    z.object({
      ...{ name: z.string(), status: z.string(), message: z.string().optional() },
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()).nullish() }),
      ),
    }),
  ),
});

const linesEach = 4;
const atMost = 40;

/**
 * What the JSON reports of test runs say about failures: each failed test, or file, with the first lines of why, and the
 * counts of all of them last.
 */
export function summarize(jsons: readonly string[], root: string): string[] {
  const reports = jsons.map((json) => report.parse(JSON.parse(json)));
  const count = (which: 'numPassedTests' | 'numFailedTests') => reports.reduce((sum, one) => sum + one[which], 0);
  const results = reports.flatMap(({ testResults }) => testResults);
  const failures = results.flatMap(({ name, status, message, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === 'failed');
    if (tests.length === 0 && status !== 'failed') return [];
    const file = relative(root, name);
    if (tests.length === 0) return [[`failed: ${file}`, ...firstLines(message)]];
    return tests.map((test) => [`failed: ${file}: ${test.fullName}`, ...firstLines(test.failureMessages?.[0])]);
  });
  const left = failures.length - atMost;
  return [
    ...failures.slice(0, atMost).flat(),
    ...(left > 0 ? [`and ${left} more`] : []),
    `${count('numPassedTests')} passed, ${count('numFailedTests')} failed`,
  ];
}

function firstLines(message = ''): string[] {
  const lines = message.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(0, linesEach).map((line) => `  ${line.slice(0, 300)}`);
}
