import fc from 'fast-check';
import { afterEach, vi } from 'vitest';
import { firstSeed } from './seed.ts';

/** For the test runner, before each file. */
fc.configureGlobal({ seed: firstSeed() });

/** Each test leaves the time, what it spies on, and the environment as they were; this comes after the hooks of its file. */
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});
