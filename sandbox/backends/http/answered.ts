import type { Answer, Unanswered } from 'iot-hub-emulator/http';
import { Problem, problemBody } from '../requests/problem.ts';

/** Writes a defect of the sandbox to standard error. */
export function report(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
}

/** The answer of `handle`, or the error body of the problem it throws. Defects pass. */
export function orRefusal<A extends Answer | Unanswered>(handle: () => A): A | Answer {
  try {
    return handle();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { status, headers } = error;
    return { status, body: problemBody(error), ...(headers && { headers }) };
  }
}

/** As `orRefusal`; a defect is answered with 500 and its stack goes to standard error. */
export function answered<A extends Answer | Unanswered>(handle: () => A): A | Answer {
  try {
    return orRefusal(handle);
  } catch (error) {
    report(error);
    return { status: 500, body: problemBody(new Problem(500, 'Internal error', 'the sandbox has a defect')) };
  }
}
