import { endsWithin } from '../concurrency/waiting.ts';
import type { DirectMethods } from '../hub/methods/directMethods.ts';
import type { LogLines } from '../log/log.ts';
import type { RequestHandler } from './requestHandler.ts';

interface DrainOptions {
  /** The limit for all answers, in ms (M14). */
  readonly drainMs: number;
  readonly handler: Pick<RequestHandler, 'stop' | 'abort' | 'idle'>;
  readonly directMethods: Pick<DirectMethods, 'abort'>;
  readonly server: ClosingServer;
  readonly log: Pick<LogLines, 'warn'>;
}

interface ClosingServer {
  /** Takes no more connections; resolves when the open ones have ended. */
  close(): Promise<unknown>;
  closeAllConnections(): void;
}

/** For the last answers to arrive, those to what is aborted among them. */
const answerMs = 500;

/** After it, for the log lines of requests whose connections were closed. */
const linesMs = 250;

/**
 * Refuses new requests and waits for the open ones; a connection without one is no work, and is closed. Shortly before the end of the drain time it aborts them, so that each
 * has its answer and its log line by then; then it closes the connections (D205).
 */
export async function drain({ drainMs, handler, directMethods, server, log }: DrainOptions): Promise<void> {
  handler.stop();
  const closed = server.close();
  const idle = handler.idle();
  if (!(await endsWithin(Promise.race([closed, idle]), drainMs - answerMs))) {
    log.warn({}, 'aborting the invocations in progress: the drain time is over');
    handler.abort();
    directMethods.abort();
  }
  if (!(await endsWithin(closed, answerMs))) server.closeAllConnections();
  await endsWithin(idle, linesMs); // a connection may close before its request has ended
}
