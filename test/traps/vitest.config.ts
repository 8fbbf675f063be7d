import { defineConfig } from 'vitest/config';
import { common, fromSources } from '../../vitest.config.ts';

// `npm run traps`: the traps of the hub's client libraries, those with long waits too, all of which wait at the same time.
export default defineConfig({
  ...fromSources,
  test: {
    ...common,
    ...{ include: ['test/traps/**/*.test.ts', 'test/traps/**/*.long.ts'], maxConcurrency: 16, reporters: ['verbose'] },
  },
});
