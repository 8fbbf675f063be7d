import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';

export type Log = Logger;

/** Structured log lines on standard output, one JSON object each. */
export function createLog(level: LevelWithSilent, destination?: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorFields },
    hooks: { streamWrite: escapeControlCharacters },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Only these fields: errors of the clients also carry keys and signatures (G5). */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack } = error;
  return { type: name, message, stack };
}

/** Texts of others must not control a terminal. JSON already escapes the lower control characters. */
const escapeControlCharacters = (json: string): string =>
  json.replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
