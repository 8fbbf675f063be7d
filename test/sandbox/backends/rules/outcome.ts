import { Problem } from '../../../../sandbox/backends/requests/problem.ts';

/** What a rule says: its result, or the status and the sentence of its refusal. */
export function outcome(rule: () => unknown): unknown {
  try {
    return rule() ?? 'allowed';
  } catch (error) {
    if (error instanceof Problem) return `${error.status} ${error.message}`;
    throw error;
  }
}
