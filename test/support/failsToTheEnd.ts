import type { ScriptedCall } from './scriptedBackend.ts';

/** So many attempts of one call may end with HTTP 500 (B4): the number is tested in `test/backends/retryPolicy.test.ts`. */
const mostServerErrors = 3;

/** The call with all its attempts, each of which ends with HTTP 500. */
export const failsToTheEnd = (call: Omit<ScriptedCall, 'reply'>, answer: unknown = 'out of order'): ScriptedCall[] =>
  Array.from({ length: mostServerErrors }, () => ({ ...call, reply: [500, answer] as const }));
