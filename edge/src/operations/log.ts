import { type DestinationStream, type LevelWithSilent, pino } from 'pino';
import { errorFields } from './errorFields.ts';
import { type EventLevel, eventOf, type Message } from './events.ts';

/** The log. Each text is in the list of events. */
export interface Log {
  info(fields: object, message: Message<'info'>): void;
  warn(fields: object, message: Message<'warn'>): void;
  error(fields: object, message: Message<'error'>): void;
  fatal(fields: object, message: Message<'fatal'>): void;
}

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
  const logger = destination ? pino(options, destination) : pino(options);
  const at =
    <L extends EventLevel>(own: L) =>
    (fields: object, message: Message<L>) =>
      logger[own]({ event: eventOf(message), ...fields }, message);
  return { info: at('info'), warn: at('warn'), error: at('error'), fatal: at('fatal') };
}

/** Texts of others must not control a terminal. JSON already escapes the lower control characters. */
const escapeControlCharacters = (json: string): string =>
  json.replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
