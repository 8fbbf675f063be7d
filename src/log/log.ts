import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
import { printableJson } from '../text/printable.ts';

export type Log = Logger;

/** The part of pino that most modules need. */
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

/** Only these fields: errors of HTTP and hub clients contain requests, and with them tokens (G5). */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { type: name, message, ...code, stack, ...(cause === undefined ? {} : { cause: errorFields(cause) }) };
}
