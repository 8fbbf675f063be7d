import type { Tell } from './taps.ts';

/** What a message in flight, or an invocation, does at this moment; changed in place, and read only when an operator asks. */
export interface Steps {
  /** Backend calls and replies in progress, in the order of their beginning. */
  readonly open: Set<Step>;
  /** As `performance.now()`. */
  readonly begunAt: number;
  /** Undefined while nobody follows the device, and while an invocation's device is not known. */
  tell: Tell | undefined;
}

export interface Step {
  readonly kind: 'call' | 'reply';
  /** Of a call: the backend and the operation. Of a reply: its kind. */
  readonly what: string;
  /** The backend of a call, or what else is asked; the receiving device of a reply. */
  readonly of: string;
  /** As `performance.now()`. */
  readonly since: number;
  /** For calls `connection`, `circuit`, `answer` or `retry`; for replies `turn`, `hub`, or why the hub did not take it. */
  waitsFor: string;
}

export const createSteps = (tell: Tell | undefined): Steps => ({ open: new Set(), begunAt: performance.now(), tell });

/** @param steps undefined when nobody could ask */
export function beginStep(steps: Steps | undefined, kind: Step['kind'], what: string, of: string): Step {
  const step = { kind, what, of, since: performance.now(), waitsFor: kind === 'call' ? 'connection' : 'turn' };
  steps?.open.add(step);
  return step;
}

/** Waits for an answer as a step. */
export async function asStep<T>(steps: Steps | undefined, what: string, of: string, answer: Promise<T>): Promise<T> {
  const step = beginStep(steps, 'call', what, of);
  step.waitsFor = 'answer';
  try {
    return await answer;
  } finally {
    steps?.open.delete(step);
  }
}
