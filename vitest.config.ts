import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    pool: 'forks',
    // Most of the longer tests wait for processes of their own: fewer files at a time would leave a small machine idle.
    maxWorkers: Math.max(3, availableParallelism() - 1),
  },
});
