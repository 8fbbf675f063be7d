import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
import { printableJson } from '../text/printable.ts';

export type Log = Logger;

/** What lines are written to: pino, or anything that has these three. */
export interface LogLines {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Structured log lines on standard output, one JSON object each (G5). */
export function createLog(level: LevelWithSilent, destination?: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorFields },
    hooks: { streamWrite: printableJson },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Nothing but these fields: errors of HTTP and hub clients carry requests, and with them tokens (G5). */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { type: name, message, ...code, stack, ...(cause === undefined ? {} : { cause: errorFields(cause) }) };
}
