import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Tests with the hub's SDKs: their clients may still fail in the background when a test is over. */
const withClients = 'test/{e2e,edge,hub,methods,sandbox}/**/*.test.ts';

/** Tests that put something else in the place of a module: others would be given it as well. */
const replacingModules = readdirSync(join(import.meta.dirname, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => join('test', file))
  .filter((file) => /\bvi\.(do)?mock\(/i.test(readFileSync(join(import.meta.dirname, file), 'utf8')));

/** A worker that goes on when its runner was killed would keep ports and processes. */
const endWithRunner = "data:text/javascript,process.once('disconnect',()=>process.kill(process.pid,'SIGKILL'))";

/** For `npm run mutants`, too. */
export const common = {
  // Generous: a busy machine is slow, and what hangs is ended all the same.
  testTimeout: 480_000,
  hookTimeout: 480_000,
  pool: 'forks' as const,
  execArgv: ['--import', endWithRunner],
  // What is waited for comes at once, or on a busy machine late.
  expect: { poll: { timeout: 120_000, interval: 25 } },
};

export default defineConfig({
  test: {
    ...common,
    // Most of the longer tests wait for processes of their own: fewer files at a time would leave a small machine idle.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    projects: [
      // Loading modules again for each file costs as much CPU as most of these tests themselves.
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [withClients, ...replacingModules],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'isolated', include: [withClients, ...replacingModules] } },
    ],
  },
});
