import { defineConfig } from 'vitest/config';

// For the collection of titles: one process, which loads each module once for all files.
export default defineConfig({
  test: { include: ['test/**/*.test.ts'], pool: 'threads', isolate: false, maxWorkers: 1 },
});
