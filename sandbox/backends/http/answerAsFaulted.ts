import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer, Unanswered } from 'iot-hub-emulator/http';
import type { Fault } from '../calls/faults.ts';
import { Problem, problemBody } from '../requests/problem.ts';

const GARBAGE = '<html><body>It works!</body></html>';

/** A call to which a fault applies. */
export interface FaultedCall {
  readonly response: ServerResponse;
  /** Handles the call and returns its true answer. Not called when the fault prevents the effect. */
  decide(): Answer;
  /** Called with an answer that is not sent, or not whole. */
  onWithheld(answer: Answer): void;
  /** Ends waits when the backend closes. */
  readonly closing: AbortSignal;
}

/** Answers a call as the fault demands that applies to it. */
export async function answerAsFaulted(fault: Fault, call: FaultedCall): Promise<Answer | Unanswered> {
  if (fault.delayMs) await wait(fault.delayMs, undefined, { signal: call.closing });
  if (fault.hang) return 'silent';
  if (fault.reset === 'before') return 'reset';
  if (fault.garbage)
    return { status: fault.status ?? 200, headers: { 'content-type': 'text/html', ...fault.headers }, body: GARBAGE };
  if (fault.status !== undefined) {
    const { status, headers = {} } = fault;
    const problem = new Problem(status, 'Fault on demand', 'the sandbox was asked to answer this');
    return status === 204 ? { status, headers } : { status, headers, body: problemBody(problem) };
  }
  const answer = call.decide();
  if (fault.reset === undefined && !fault.lostAnswer) return answer;
  call.onWithheld(answer);
  if (fault.reset === 'mid-body') return sendHalf(call.response, answer);
  return fault.reset ? 'reset' : 'silent';
}

/** Sends the first half of an answer that says it is whole, and closes once the half has left. */
function sendHalf(response: ServerResponse, { status, body = '' }: Answer): Unanswered {
  const bytes = Buffer.from(body);
  if (bytes.length < 2) return 'reset';
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  return 'written';
}
