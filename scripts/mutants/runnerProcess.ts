import { resolve } from 'node:path';
import { createVitest } from 'vitest/node';
import { titleOf } from '../../test/mutants/titles.ts';
import { common, fromSources } from '../../vitest.config.ts';
import type { Attempt, Change, Seen, SeenTest } from './attempt.ts';
import { createKeptProcess } from './keptProcess.ts';

// A test runner that is started once and asked for one attempt after the other. It transforms each module once, and again
// only the one in which a fault is put.

const kept = createKeptProcess();
let change: Change | undefined;
let isLoaded = false;
let seen: SeenTest[] = [];
let troubles: string[] = [];

const vitest = await createVitest(
  'test',
  {
    ...common,
    pool: kept.pool,
    config: false,
    watch: false,
    cache: false,
    update: 'none',
    maxWorkers: 1,
    reporters: [
      {
        onTestCaseResult(test) {
          const { state, errors } = test.result();
          if (state !== 'passed' && state !== 'failed') return;
          const hasTimedOut = errors?.some(({ message }) => /^(Test|Hook) timed out/.test(message)) ?? false;
          const ms = test.diagnostic()?.duration ?? 0;
          seen.push({ title: titleOf(test), hasPassed: state === 'passed', hasTimedOut, ms });
        },
        onTestModuleEnd(module) {
          troubles.push(...module.errors().map(({ message }) => message));
        },
      },
    ],
  },
  {
    ...fromSources,
    plugins: [
      {
        name: 'deliberate-fault',
        enforce: 'pre',
        transform(code, id) {
          if (change === undefined || id !== resolve(change.file)) return undefined;
          const { find, replace } = change;
          isLoaded = true;
          return { code: code.replace(find, () => replace), map: null };
        },
      },
    ],
  },
);

process.on('message', async (attempt: Attempt) => {
  process.send?.(await run(attempt).catch((error: unknown): Seen => ({ tests: [], troubles: [String(error)] })));
});

async function run({ testFile, words, change: asked, inNewProcess, testMs, hookMs }: Attempt): Promise<Seen> {
  if (inNewProcess) await kept.renew();
  [change, isLoaded, seen, troubles] = [asked, false, [], []];
  const project = vitest.getRootProject();
  Object.assign(project.config, { testTimeout: testMs, hookTimeout: hookMs });
  const testNamePattern = new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'));
  if (asked) transformAgain(asked.file);
  const specification = project.createSpecification(resolve(testFile), { testNamePattern });
  const { unhandledErrors } = await vitest.runTestSpecifications([specification]);
  change = undefined;
  if (asked) transformAgain(asked.file);
  if (seen.length === 0) for (const error of unhandledErrors) troubles.push(messageOf(error));
  if (asked && !isLoaded) troubles.push(`${testFile} does not load ${asked.file}`);
  return { tests: seen, troubles };
}

/** Only this file: what imports it stays as it is. */
function transformAgain(file: string): void {
  for (const { moduleGraph } of Object.values(vitest.vite.environments)) {
    for (const module of moduleGraph.getModulesByFile(resolve(file)) ?? []) module.transformResult = null;
  }
  vitest.watcher.invalidates.add(resolve(file)); // in the process of the tests
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}
