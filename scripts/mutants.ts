import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { availableParallelism, constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { faults } from '../test/mutants/faults.ts';
import { createRunner } from './mutants/runner.ts';
import { tryFaults, type Verdict } from './mutants/trial.ts';

/**
 * Puts each deliberate fault into the service, one at a time, and demands that a test notices whose title names the
 * broken rule. `npm run mutants -- claim` tries only the faults with that word. No file is changed: the fault is put in
 * when the test runner loads the file.
 */

const word = process.argv[2] ?? '';
const chosen = faults.filter(({ fault, file }) => `${fault} ${file}`.includes(word));
if (chosen.length === 0) {
  console.error(`No deliberate fault has ${JSON.stringify(word)} in its name or file; test/mutants lists them.`);
  process.exit(1);
}
const directory = realpathSync(mkdtempSync(join(tmpdir(), 'mutants-')));
chmodSync(directory, 0o711); // some tests give their rights away
// Many wait, most of all for what never comes, and need no processor.
const atOnce = Math.min(4 * availableParallelism(), 8, chosen.length);
const runners = Array.from({ length: atOnce }, () => createRunner(process.cwd(), directory));

function end(code: number): never {
  for (const runner of runners) runner.close();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  process.exit(code);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => end(128 + constants.signals[signal]));
}

let tried = 0;
const escaped: Verdict[] = [];
console.log('The tests that are to notice them run without a fault first');
await tryFaults({
  root: process.cwd(),
  faults: chosen,
  runners,
  patience: { testMs: 5_000, hookMs: 30_000 },
  onReady: (testFiles) => console.log(`${testFiles} test files have run\n`),
  onVerdict(verdict) {
    const { fault, isCaught } = verdict;
    tried += 1;
    if (!isCaught) escaped.push(verdict);
    console.log(`${String(tried).padStart(3)}/${chosen.length} ${isCaught ? 'caught ' : 'ESCAPED'} ${fault.fault}`);
  },
});

for (const { fault, why } of escaped) {
  console.error(`\nescaped: ${fault.fault}\n      wanted: ${fault.caughtBy}\n      ${why}`);
}
console.log(
  `\n${chosen.length - escaped.length} of ${chosen.length} deliberate faults caught by the test that names the rule`,
);
end(escaped.length === 0 ? 0 : 1);
