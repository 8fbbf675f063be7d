import { writeSync } from 'node:fs';
import { type DestinationStream, type LevelWithSilent, pino } from 'pino';
import { createErrorFields } from './errorFields.ts';
import { type Events, eventNames, linesDropped, type MessageOf } from './events.ts';
import { createLineOf } from './line.ts';
import { createOutput, type Output } from './output.ts';
import { prettyLine } from './pretty.ts';
import { printableJson } from './printable.ts';
import type { SecretList } from './secretList.ts';

/** The part of the log that most modules need. Each text is in the list of events. */
export interface LogLines<E extends Events> {
  info(fields: object, message: MessageOf<E, 'info'>): void;
  warn(fields: object, message: MessageOf<E, 'warn'>): void;
  error(fields: object, message: MessageOf<E, 'error'>): void;
}

/** @template Plain texts of lines that have no `event` */
export interface Log<E extends Events, Plain extends string = never> extends LogLines<E> {
  /** Lowest level that is written; can be changed at any time. */
  level: string;
  debug(fields: object, message: string): void;
  info(fields: object, message: MessageOf<E, 'info'> | Plain): void;
  warn(fields: object, message: MessageOf<E, 'warn'> | Plain): void;
  fatal(fields: object, message: MessageOf<E, 'fatal'>): void;
  /** Writes at once the lines that wait for the end of the turn; absent when none ever does. */
  flush?(): void;
}

export type LogLevel = LevelWithSilent;

export interface LogOptions {
  /** On each line. */
  readonly instance?: string;
  /** Texts that errors may not bring into the log. */
  readonly secrets?: SecretList;
  /** For a terminal, instead of JSON. */
  readonly isPretty?: boolean;
  readonly hasColours?: boolean;
}

/**
 * Structured log lines, one JSON object each (G5).
 * @param destination standard output when omitted: there the lines of a turn are written together (D151)
 */
export function createLog<
  E extends Events & Record<'log.lines_dropped', typeof linesDropped>,
  Plain extends string = never,
>(
  events: E,
  level: LogLevel,
  destination?: DestinationStream,
  { instance, secrets, isPretty = false, hasColours = false }: LogOptions = {},
): Log<E, Plain> {
  const streamWrite = isPretty ? (json: string) => prettyLine(json, hasColours) : printableJson;
  const options = {
    level,
    base: { instance },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: createErrorFields(secrets) },
    hooks: { streamWrite },
  };
  const onGap = (lines: number) => at('warn')({ lines }, linesDropped.message);
  const output = destination === undefined ? standardOutput(onGap) : undefined;
  const stream = destination ?? standardOutput(onGap);
  const logger = pino(options, stream);
  const eventOf = eventNames(events);
  const lineOf = createLineOf(instance);

  const at = (own: 'info' | 'warn' | 'error' | 'fatal') => (fields: object, message: string) => {
    if (logger.isLevelEnabled(own)) {
      const event = eventOf(message);
      const line = lineOf(own, event, fields, message);
      if (line !== undefined) stream.write(streamWrite(line));
      else logger[own](event === undefined ? fields : { event, ...fields }, message);
    }
    if (own !== 'info') output?.flush();
  };

  return {
    get level() {
      return logger.level;
    },
    set level(next) {
      logger.level = next;
    },
    debug: (fields, message) => logger.debug(fields, message),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    ...(output && { flush: output.flush }),
  };
}

let standard: Output | undefined;

/** What waits is written when the process exits, also because of an error. */
function standardOutput(onGap: (lines: number) => void): Output {
  if (standard === undefined) {
    const { fd = 1 } = process.stdout; // asked for: from then on a write to a pipe does not wait for room in it
    standard = createOutput({ take: (bytes) => taken(fd, bytes), onGap });
    process.on('exit', standard.end);
  }
  return standard;
}

function taken(fd: number, bytes: Uint8Array): number {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw error;
  }
}

/** Lines of this process that nobody has read in time. */
export const droppedLines = (): number => standard?.dropped() ?? 0;

/** The log that lines of a log with fields of its own come to. */
const origins = new WeakMap<object, object>();

/** The log that the lines of a log come to in the end: itself, but for one with fields of its own. */
export const originOf = (log: object): object => origins.get(log) ?? log;

/** The same log, with these fields on each line. */
export function withFields<E extends Events>(log: LogLines<E>, own: object): LogLines<E> {
  const view: LogLines<E> = {
    info: (fields, message) => log.info({ ...own, ...fields }, message),
    warn: (fields, message) => log.warn({ ...own, ...fields }, message),
    error: (fields, message) => log.error({ ...own, ...fields }, message),
  };
  origins.set(view, originOf(log));
  return view;
}

/** Warnings of Node.js, such as of what a package uses that is deprecated, as lines at `debug`: on its own it writes them as plain text. */
export function logWarnings(source: NodeJS.EventEmitter, log: { debug(fields: object, message: string): void }): void {
  source.removeAllListeners('warning');
  source.on('warning', (warning: Error) => log.debug({ err: warning }, 'warning of Node.js'));
}
