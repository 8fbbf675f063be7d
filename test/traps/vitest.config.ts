import { defineConfig } from 'vitest/config';

// `npm run traps`: the traps of the hub's client libraries, those with long waits too, all of which wait at the same time.
export default defineConfig({
  test: {
    include: ['test/traps/**/*.test.ts', 'test/traps/**/*.long.ts'],
    testTimeout: 480_000,
    hookTimeout: 60_000,
    maxConcurrency: 16,
    pool: 'forks',
    reporters: ['verbose'],
  },
});
