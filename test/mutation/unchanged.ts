import fc from 'fast-check';
import { inject, vi } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where StrykerJS keeps which change is in effect. */
    globalNamespace: string;
    /** `dry-run` when all tests run without a change. */
    mode: 'dry-run' | 'mutant';
  }
}

// The thread still has the change of the last run while it loads the tests of the next one.
const stryker = (globalThis as Record<string, unknown>)[inject('globalNamespace')];
Object.assign(stryker ?? {}, { activeMutant: undefined });

// Without a change no test waits for what never comes: one that is late runs on a busy machine.
const isUnchanged = inject('mode') === 'dry-run';
const limits = isUnchanged ? 480_000 : 20_000;
vi.setConfig({ testTimeout: limits, hookTimeout: limits });

// That a change is noticed is enough: looking for the smallest example takes longer than the test. And a test that has tried
// examples for long, on a busy machine, must not count as one that waits for what never comes.
fc.configureGlobal({ endOnFailure: true, ...(!isUnchanged && { interruptAfterTimeLimit: limits / 4 }) });
