import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultContext, StandingFaults } from '../faults/standing.ts';
import type { Unanswered } from '../http/httpServer.ts';
import { Refusal } from '../values/refusal.ts';
import { methodError } from './methodErrors.ts';
import type { RestAnswer } from './request.ts';

/** Answers a method call as a fault demands that applies to it; without one, `call` calls the device. */
export async function answerAsFaulted(
  faults: StandingFaults,
  context: FaultContext,
  call: () => Promise<RestAnswer>,
): Promise<RestAnswer | Unanswered> {
  const fault = faults.strike('method', context)?.fault;
  if (!fault) return call();
  const { answer, ms = 1000, errorCode = 500001, effect = false } = fault;
  if (answer === 'delay') return sleep(ms, undefined, { ref: false }).then(call);
  if (effect) await call().catch(unlessRefused);
  if (answer === 'garbage') return { status: 200, text: '<html><body>It works!</body></html>' };
  if (answer === 'refuse') return methodError(errorCode, 'A fault of the sandbox hub.');
  return answer;
}

/** Ignore that the device cannot be called: the fault replaces the answer anyway. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
}
