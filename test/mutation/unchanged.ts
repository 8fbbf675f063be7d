import fc from 'fast-check';
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where StrykerJS keeps which change is in effect. */
    globalNamespace: string;
  }
}

// The thread still has the change of the last run while it loads the tests of the next one.
const stryker = (globalThis as Record<string, unknown>)[inject('globalNamespace')];
Object.assign(stryker ?? {}, { activeMutant: undefined });

// That a change is noticed is enough: looking for the smallest example takes longer than the test.
fc.configureGlobal({ endOnFailure: true });
