import type { FastifyBaseLogger } from 'fastify';
import type { LogLines } from '../log/log.ts';

/** Logs what fastify itself reports at `warn` and above: its text and the error, not the request with its token (G5). */
export function serverLog(log: LogLines): FastifyBaseLogger {
  const ignore = () => {};
  const warn = (first: unknown, text?: unknown) => log.warn(remarkOf(first, text), 'the HTTP server reports a problem');
  const error = (first: unknown, text?: unknown) =>
    log.error(remarkOf(first, text), 'the HTTP server reports a problem');
  const logger: FastifyBaseLogger = {
    level: 'warn',
    trace: ignore,
    debug: ignore,
    info: ignore,
    silent: ignore,
    warn,
    error,
    fatal: error,
    child: () => logger,
  };
  return logger;
}

/** Its methods take a text, an error, or an object with the error in `err` and then a text. */
function remarkOf(first: unknown, text: unknown): object {
  const err = first instanceof Error ? first : (Object(first) as { readonly err?: unknown }).err;
  const remark = typeof first === 'string' ? first : text;
  return { ...(typeof remark === 'string' && { remark }), ...(err !== undefined && { err }) };
}
