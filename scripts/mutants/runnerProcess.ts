import { relative, resolve } from 'node:path';
import { BaseSequencer, createVitest, type TestCase, type TestModule, type TestSpecification } from 'vitest/node';
import { common, fromSources } from '../../vitest.config.ts';
import type { Attempt, Seen } from './runner.ts';

// A test runner that is started once and asked for one attempt after the other. It transforms each module once, and again only the one that is changed.
// The tests of an attempt run in a new process, so that nothing of an earlier one is left there.

class AsGiven extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    return files;
  }
}

let change: Attempt['change'];
let failed: Seen['failed'];

const vitest = await createVitest(
  'test',
  {
    ...common,
    ...{ config: false, watch: false, cache: false, update: 'none', isolate: false, maxWorkers: 1 },
    hookTimeout: 60_000,
    sequence: { sequencer: AsGiven },
    reporters: [
      {
        onTestCaseResult(test: TestCase) {
          if (test.result().state === 'failed') fail(test.module, test.fullName, test.result().errors?.[0]?.message);
        },
        onTestModuleEnd(module: TestModule) {
          const [error] = module.errors();
          if (error) fail(module, 'the file', error.message);
        },
      },
    ],
  },
  {
    ...fromSources,
    plugins: [
      {
        name: 'change',
        enforce: 'pre',
        transform: (_, id) => (change && id === resolve(change.file) ? { code: change.text, map: null } : undefined),
      },
    ],
  },
);

process.on('message', async (attempt: Attempt) => {
  const seen = await run(attempt).catch((error: unknown): Seen => ({ failed: { ...none, why: String(error) } }));
  process.send?.(seen);
});

const none = { testFile: '', title: '' };

async function run({ testFiles, change: asked, testMs }: Attempt): Promise<Seen> {
  [change, failed] = [asked, undefined];
  const project = vitest.getRootProject();
  Object.assign(project.config, { testTimeout: testMs });
  if (asked) transformAgain(asked.file);
  const { unhandledErrors } = await vitest.runTestSpecifications(
    testFiles.map((file) => project.createSpecification(resolve(file))),
  );
  change = undefined;
  if (asked) transformAgain(asked.file);
  const [error] = unhandledErrors;
  if (error !== undefined && failed === undefined) return { failed: { ...none, why: messageOf(error) } };
  return failed ? { failed } : {};
}

function fail(module: TestModule, title: string, why = ''): void {
  failed ??= { testFile: relative(process.cwd(), module.moduleId), title, why };
  void vitest.cancelCurrentRun('test-failure');
}

/** Only this file: what imports it stays as it is. */
function transformAgain(file: string): void {
  for (const { moduleGraph } of Object.values(vitest.vite.environments)) {
    for (const module of moduleGraph.getModulesByFile(resolve(file)) ?? []) module.transformResult = null;
  }
  vitest.watcher.invalidates.add(resolve(file)); // in the process of the tests
}

const messageOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
