import { defineConfig } from 'vitest/config';
import { common, fromSources } from '../../vitest.config.ts';

// For runs that tests start: one thread of the runner, which loads each module once for all files. It takes the least
// CPU. `--maxWorkers=1` is not enough: the projects of the usual settings do not heed it.
export default defineConfig({
  ...fromSources,
  test: { ...common, include: ['test/**/*.test.ts'], pool: 'threads', execArgv: [], isolate: false, maxWorkers: 1 },
});
