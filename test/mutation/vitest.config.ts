import { join, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { common, fromSources } from '../../vitest.config.ts';
import { reachedFrom } from '../support/imports.ts';
import { keptThread } from './keptThread.ts';

const root = join(import.meta.dirname, '../..');

/** The test that loads least knows most about a change, and is quick: when it fails, the others need not run. */
class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const size = ({ moduleId }: TestSpecification) => reachedFrom(relative(root, moduleId)).size;
    return files.toSorted((one, other) => size(one) - size(other));
  }
}

/** For `npm run mutation`, which names the tests. */
export default defineConfig({
  ...fromSources,
  // Otherwise found in `node_modules`, where no file is changed.
  resolve: { alias: [{ find: /^telemetry\//, replacement: join(root, 'telemetry/src/') }] },
  plugins: [
    {
      name: 'kept-thread',
      // StrykerJS asks for threads on its command line, which has precedence.
      configureVitest: ({ project }) =>
        void Object.assign(project.config, { pool: keptThread.name, poolRunner: keptThread }),
    },
  ],
  test: {
    ...common,
    execArgv: [],
    isolate: false,
    include: ['test/**/*.test.ts'],
    setupFiles: [join(import.meta.dirname, 'unchanged.ts')],
    sequence: { sequencer: NearestFirst },
    // With a change, many tests wait for what never comes; for the limits of tests see unchanged.ts.
    expect: { poll: { timeout: 8_000, interval: 25 } },
  },
});
