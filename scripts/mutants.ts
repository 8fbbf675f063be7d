import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Fault, faults } from '../test/mutants/faults.ts';

/**
 * Puts each deliberate fault into a copy of the service, one at a time, and demands that a test notices whose title
 * names the broken rule. `npm run mutants -- claim` tries only the faults with that word.
 */

const copied = [
  'src',
  'edge',
  'test',
  'scripts',
  'sandbox',
  'docs',
  'config',
  'README.md',
  '.env.example',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];

/** For one test: with a fault, some wait for what never comes. */
const longestMs = 45_000;

/** A copy of the checkout with a fault put in and taken out again. */
function createWorkshop() {
  const directory = mkdtempSync(join(tmpdir(), 'mutants-'));
  for (const name of copied) cpSync(name, join(directory, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(directory, 'node_modules'));
  let running: ChildProcess | undefined;

  /** Titles of the tests that fail with the fault in place, of those that have its words in their titles. */
  async function failingTitles(tests: readonly string[], words: string): Promise<string[]> {
    const report = join(directory, 'report.json');
    rmSync(report, { force: true });
    await new Promise<void>((done) => {
      const vitest = [
        'node_modules/vitest/vitest.mjs',
        'run',
        ...chosenTests(tests, words),
        '--no-isolate',
        '--maxWorkers=1',
        `--testTimeout=${longestMs}`,
        `--hookTimeout=${longestMs}`,
        '--reporter=json',
        `--outputFile=${report}`,
      ];
      running = spawn(process.execPath, vitest, { cwd: directory, stdio: 'ignore', detached: true });
      running.on('exit', () => done());
    });
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
    return testResults.flatMap(({ assertionResults }) =>
      assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
    );
  }

  return {
    async try({ file, find, replace, tests, caughtBy }: Fault): Promise<string[]> {
      const path = join(directory, file);
      const text = readFileSync(path, 'utf8');
      if (text.split(find).length !== 2) throw new Error(`${file} must contain exactly once: ${find}`);
      writeFileSync(
        path,
        text.replace(find, () => replace),
      );
      try {
        return await failingTitles(tests, caughtBy);
      } finally {
        writeFileSync(path, text);
      }
    },
    close() {
      killGroup(running);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The other tests of these files would only take time. */
const chosenTests = (tests: readonly string[], words: string): readonly string[] =>
  tests.includes('-t') ? tests : [...tests, '-t', words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')];

/** With its workers: one that a fault keeps busy for ever outlives its parent. */
function killGroup(child: ChildProcess | undefined): void {
  if (child?.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

const word = process.argv[2] ?? '';
const chosen = faults.filter(({ fault, file }) => `${fault} ${file}`.includes(word));
const queue = [...chosen];
const escaped: string[] = [];
const workshops = Array.from({ length: Math.min(availableParallelism(), 4, chosen.length) }, createWorkshop);
const closeAll = () => {
  for (const workshop of workshops) workshop.close();
};
process.on('SIGINT', () => {
  closeAll();
  process.exit(130);
});

let tried = 0;
await Promise.all(
  workshops.map(async (workshop) => {
    for (let fault = queue.shift(); fault !== undefined; fault = queue.shift()) {
      const titles = await workshop.try(fault).catch((error: Error) => error);
      tried += 1;
      const { caughtBy } = fault;
      const isCaught = Array.isArray(titles) && titles.some((title) => title.includes(caughtBy));
      console.log(`${String(tried).padStart(3)}/${chosen.length} ${isCaught ? 'caught ' : 'ESCAPED'} ${fault.fault}`);
      if (isCaught) continue;
      const seen = Array.isArray(titles)
        ? titles.map((title) => `\n      failed: ${title}`).join('') || '\n      no test failed'
        : `\n      ${titles.message}`;
      escaped.push(`${fault.fault}\n      wanted: ${caughtBy}${seen}`);
    }
  }),
);
closeAll();

for (const one of escaped) console.error(`\nescaped: ${one}`);
console.log(
  `\n${chosen.length - escaped.length} of ${chosen.length} deliberate faults caught by the test that names the rule`,
);
process.exit(escaped.length === 0 ? 0 : 1);
