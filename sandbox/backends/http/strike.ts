import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Fault } from '../faults.ts';
import type { JournalEntry } from '../journal.ts';
import { Problem, problemBody } from './problem.ts';
import type { Answer } from './routes.ts';

const GARBAGE = '<html><body>It works!</body></html>';

type Headers = Readonly<Record<string, string>>;

/** Sends an answer. */
export function reply(response: ServerResponse, answer: Answer, more: Headers = {}): void {
  const { status, body } = answer;
  const headers = { ...answer.headers, ...more };
  if (body === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers }).end(body);
}

/** Sends an answer and notes it in the journal. */
export function send(response: ServerResponse, entry: JournalEntry, answer: Answer, headers?: Headers): void {
  entry.status = answer.status;
  entry.answer = answer.body ?? null;
  reply(response, answer, headers);
}

const cut = (response: ServerResponse): void => void response.socket?.resetAndDestroy();

/** Sends the first half of an answer that says it is whole, and closes once the half has left. */
function sendHalf(response: ServerResponse, entry: JournalEntry, { status, body = '' }: Answer): void {
  entry.answer = body;
  const bytes = Buffer.from(body);
  if (bytes.length < 2) {
    cut(response);
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
}

/**
 * Answers a call as the fault that strikes it demands. `decide` has the call's effect and says the true answer;
 * it runs only where the fault lets the effect happen. `closing` ends waits when the backend closes.
 */
export async function strike(
  fault: Fault,
  response: ServerResponse,
  entry: JournalEntry,
  decide: () => Answer,
  closing: AbortSignal,
): Promise<void> {
  entry.fault = fault.id;
  if (fault.delayMs) await wait(fault.delayMs, undefined, { signal: closing });
  if (fault.hang) return;
  if (fault.reset === 'before') return cut(response);
  if (fault.garbage) {
    const headers = { 'content-type': 'text/html', ...fault.headers };
    return send(response, entry, { status: fault.status ?? 200, body: GARBAGE }, headers);
  }
  if (fault.status !== undefined) {
    const { status, headers } = fault;
    const body = problemBody(new Problem(status, 'Fault on demand', 'the sandbox was asked to answer this'));
    return send(response, entry, status === 204 ? { status } : { status, body }, headers);
  }
  const answer = decide();
  if (fault.reset === 'mid-body') return sendHalf(response, entry, answer);
  if (fault.reset === 'after-effect' || fault.lostAnswer) {
    entry.answer = answer.body ?? null;
    if (fault.reset) cut(response);
    return;
  }
  send(response, entry, answer);
}
