import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { TestCase, Vitest } from 'vitest/node';
import type { Fault } from './faults.ts';

/** The files of its tests; those of a folder when it names one. */
export const testFilesOf = ({ tests }: Pick<Fault, 'tests'>, root = '.'): string[] =>
  tests.flatMap((path) =>
    path.endsWith('.test.ts') || !existsSync(join(root, path))
      ? [path]
      : readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.test.ts'))
          .map((name) => join(path, name)),
  );

/** With the titles of the groups around it. */
export function titleOf({ name, parent }: TestCase): string {
  const names = [name];
  for (let group = parent; group.type === 'suite'; group = group.parent) names.unshift(group.name);
  return names.join(' ');
}

/**
 * The faults that no test is there for.
 * @param titles by file; a fault is passed over when one of its files is missing
 */
export const withoutTest = (faults: readonly Fault[], titles: ReadonlyMap<string, readonly string[]>): Fault[] =>
  faults.filter((fault) => {
    const found = testFilesOf(fault).map((file) => titles.get(file));
    return found.every((all) => all !== undefined && !all.some((title) => title.includes(fault.caughtBy)));
  });

/** What a run says of them. */
export const noTest = 'no test has the title of the fault';

/**
 * For the test runner: a run fails when a fault names a test that is in none of the files that ran. To try the faults takes a
 * quarter of an hour; the titles are known anyway (D392).
 */
export const titlesOfFaults = {
  name: 'titles-of-faults',
  configureVitest({ vitest }: { readonly vitest: Vitest }): void {
    const { reporters } = vitest.config;
    const isThere = reporters.some((one) => typeof one === 'object' && 'isOfFaults' in one);
    if (!isThere) reporters.push(reporterFor(vitest));
  },
};

const reporterFor = (vitest: Vitest) => ({
  isOfFaults: true,
  async onTestRunEnd() {
    const titles = new Map(
      vitest.state
        .getTestModules()
        .filter((module) => module.state() !== 'queued' && module.errors().length === 0)
        .map((module) => [relative(vitest.config.root, module.moduleId), [...module.children.allTests()].map(titleOf)]),
    );
    const { faults } = await vitest.import<{ faults: readonly Fault[] }>(join(import.meta.dirname, 'faults.ts'));
    const lost = withoutTest(faults, titles);
    if (lost.length === 0) return;
    process.exitCode = 1;
    for (const { fault, caughtBy } of lost) vitest.logger.error(`failed: ${noTest} “${fault}”: ${caughtBy}`);
  },
});
