import type { IncomingMessage, ServerResponse } from 'node:http';
import { passes } from './entry.ts';
import type { Journal } from './journal.ts';
import { type JournalQuery, printed } from './read.ts';

const usualHeartbeatMs = 15_000;

export interface StreamOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Ends the stream. */
  readonly closing: AbortSignal;
  /** How often a comment tells that the connection is alive; default 15 s. */
  readonly heartbeatMs?: number;
}

/**
 * Writes entries as server-sent events while they come, until the client leaves or `closing` is aborted. It begins after
 * the header `Last-Event-ID`, or `since`, or with what comes from now on.
 *
 *   id: 42                      its position
 *   data: {"position":42,…}     one line of JSON
 *
 *   event: gap                  entries have gone before this client could read them
 *   data: {"after":42,"next":99}
 *
 * For a slow client only its position is kept: the stream goes on when it has read, with a `gap` if entries have gone.
 */
export function streamJournal(
  journal: Journal,
  query: JournalQuery,
  { request, response, closing, heartbeatMs = usualHeartbeatMs }: StreamOptions,
): void {
  let after = startOf(request, query) ?? journal.last;
  let scheduled: NodeJS.Immediate | undefined;

  const isReady = () => !response.writableNeedDrain && !response.writableEnded && !response.destroyed;
  const write = (): void => {
    scheduled = undefined;
    while (after !== journal.last && isReady()) {
      if (after > journal.last || after + 1 < journal.first) {
        const next = journal.first;
        response.write(`event: gap\ndata: ${JSON.stringify({ after, next })}\n\n`);
        after = next - 1;
        continue;
      }
      after += 1;
      const entry = journal.at(after);
      if (entry && passes(query, entry)) response.write(`id: ${after}\ndata: ${JSON.stringify(printed(entry))}\n\n`);
    }
  };
  const schedule = (): void => {
    scheduled ??= setImmediate(write);
  };

  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', connection: 'close' });
  response.flushHeaders();
  const unwatch = journal.watch(schedule);
  const heartbeat = setInterval(() => {
    if (isReady()) response.write(': heartbeat\n\n');
  }, heartbeatMs).unref();
  const end = (): void => void response.end();
  response.on('drain', schedule);
  response.on('close', () => {
    unwatch();
    clearInterval(heartbeat);
    clearImmediate(scheduled);
    closing.removeEventListener('abort', end);
  });
  if (closing.aborted) end();
  else closing.addEventListener('abort', end, { once: true });
  schedule();
}

function startOf({ headers }: IncomingMessage, { since }: JournalQuery): number | undefined {
  const given = headers['last-event-id'];
  return typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : since;
}
