import { type DestinationStream, type LevelWithSilent, pino } from 'pino';
import { createErrorFields } from './errorFields.ts';
import { type EventLevel, eventOf, type Message } from './events.ts';
import { prettyLine } from './pretty.ts';
import { printableJson } from './printable.ts';

/** The log. Each text is in the list of events. */
export interface Log {
  /** Lowest level that is written; can be changed at any time. */
  level: string;
  info(fields: object, message: Message<'info'>): void;
  warn(fields: object, message: Message<'warn'>): void;
  error(fields: object, message: Message<'error'>): void;
  fatal(fields: object, message: Message<'fatal'>): void;
}

interface LogOptions {
  /** On each line. */
  readonly instance?: string;
  /** Texts that errors may not bring into the log. */
  readonly secrets?: readonly string[];
  /** For a terminal, instead of JSON. */
  readonly isPretty?: boolean;
  readonly hasColours?: boolean;
}

/** Structured log lines on standard output, one JSON object each. */
export function createLog(
  level: LevelWithSilent,
  destination?: DestinationStream,
  { instance, secrets, isPretty = false, hasColours = false }: LogOptions = {},
): Log {
  const streamWrite = isPretty ? (json: string) => prettyLine(json, hasColours) : printableJson;
  const options = {
    level,
    base: instance === undefined ? null : { instance },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: createErrorFields(secrets) },
    hooks: { streamWrite },
  };
  const logger = destination ? pino(options, destination) : pino(options);
  const at = (own: EventLevel) => (fields: object, message: Message) =>
    logger[own]({ event: eventOf(message), ...fields }, message);

  return {
    get level() {
      return logger.level;
    },
    set level(next) {
      logger.level = next;
    },
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
  };
}
