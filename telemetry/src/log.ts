import { writeSync } from 'node:fs';
import { type DestinationStream, type LevelWithSilent, pino } from 'pino';
import { createOutput } from './output.ts';
import { createErrorFields, type SecretList } from './secrets.ts';
import { prettyLine, printableJson } from './text.ts';

export type EventLevel = 'info' | 'warn' | 'error' | 'fatal';

/** The lines of a log, by the names of their events: a closed list. The names are an interface: operators look for them. */
export type Events = Readonly<Record<string, { readonly levels: readonly EventLevel[]; readonly message: string }>>;

/** The texts of the lines that can have one of these levels. */
export type MessageOf<E extends Events, L extends EventLevel = EventLevel> = {
  [N in keyof E]: Extract<E[N]['levels'][number], L> extends never ? never : E[N]['message'];
}[keyof E];

/** Finds the event of a text; undefined for a text that is not in the list. */
export function eventNames(events: Events): (message: string) => string | undefined {
  const names = new Map(Object.entries(events).map(([name, { message }]) => [message, name]));
  return (message) => names.get(message);
}

const eventAt =
  <const L extends readonly EventLevel[]>(...levels: L) =>
  <const M extends string>(message: M) =>
    ({ levels, message }) as const;

export const info = eventAt('info');
export const warn = eventAt('warn');
export const error = eventAt('error');
export const warnOrError = eventAt('warn', 'error');
export const fatal = eventAt('fatal');

/** Of each log: what reads it stood still. */
export const linesDropped = warn('lines of the log are missing before this one: nobody read them');

const { isoTime } = pino.stdTimeFunctions;

/**
 * Makes the same bytes as pino with less work: one `JSON.stringify` for all fields instead of one step, and one more text,
 * for each (D355).
 * @param instance on each line
 * @returns undefined when only pino can: of an error, or of a value that needs care
 */
export function createLineOf(instance: string | undefined) {
  const common = instance === undefined ? '' : `,"instance":${JSON.stringify(instance)}`;

  return (level: string, event: string | undefined, fields: object, message: string): string | undefined => {
    if ('err' in fields || 'event' in fields) return undefined;
    let members: string;
    try {
      members = JSON.stringify(fields).slice(1, -1);
    } catch {
      return undefined; // of a cycle, or a bigint
    }
    // Half a surrogate pair: pino writes it in some strings, and escapes it in others.
    if (members.includes('\\ud')) return undefined;
    const head = `{"level":"${level}"${isoTime()}${common}`;
    const named = event === undefined ? head : `${head},"event":"${event}"`;
    return `${named}${members && ','}${members},"msg":${JSON.stringify(message)}}\n`;
  };
}

export interface LogLines<E extends Events, Plain extends string = never> {
  info(fields: object, message: MessageOf<E, 'info'> | Plain): void;
  warn(fields: object, message: MessageOf<E, 'warn'> | Plain): void;
  error(fields: object, message: MessageOf<E, 'error'>): void;
}

/** @template Plain texts of lines that have no `event` */
export interface Log<E extends Events, Plain extends string = never> extends LogLines<E, Plain> {
  /** Lowest level that is written; can be changed at any time. */
  level: string;
  debug(fields: object, message: string): void;
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
export function createLog<E extends Events & { 'log.lines_dropped': typeof linesDropped }, P extends string = never>(
  events: E,
  level: LogLevel,
  destination?: DestinationStream,
  { instance, secrets, isPretty = false, hasColours = false }: LogOptions = {},
): Log<E, P> {
  const streamWrite = isPretty ? (json: string) => prettyLine(json, hasColours) : printableJson;
  const onGap = (lines: number) => at('warn')({ lines }, linesDropped.message);
  const output = destination === undefined ? standardOutput(onGap) : undefined;
  const stream = destination ?? standardOutput(onGap);
  const options = {
    ...{ level, base: { instance }, timestamp: isoTime, hooks: { streamWrite } },
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: createErrorFields(secrets) },
  };
  const logger = pino(options, stream);
  const eventOf = eventNames(events);
  const lineOf = createLineOf(instance);

  const at = (own: EventLevel) => (fields: object, message: string) => {
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
    ...{ info: at('info'), warn: at('warn'), error: at('error'), fatal: at('fatal') },
    ...(output && { flush: output.flush }),
  };
}

let standard: ReturnType<typeof createOutput> | undefined;

/** What waits is written when the process exits, also because of an error. */
function standardOutput(onGap: (lines: number) => void) {
  if (standard !== undefined) return standard;
  const { fd = 1 } = process.stdout; // asked for: from then on a write to a pipe does not wait for room in it
  standard = createOutput((bytes) => taken(fd, bytes), onGap);
  process.on('exit', standard.end);
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

/** Warnings of Node.js, such as of what a package uses that is deprecated, as lines at `debug`: on its own it writes them as plain text. */
export function logWarnings(source: NodeJS.EventEmitter, log: { debug(fields: object, message: string): void }): void {
  source.removeAllListeners('warning');
  source.on('warning', (warning: Error) => log.debug({ err: warning }, 'warning of Node.js'));
}

/** Each SIGUSR2 switches between `debug` and the level of the settings. */
export function switchLevelOnSignal(
  source: { on(signal: 'SIGUSR2', switched: () => void): unknown },
  log: { level: string; info(fields: object, message: 'log level changed'): void },
): void {
  const own = log.level;
  source.on('SIGUSR2', () => {
    const level = log.level === 'debug' ? own : 'debug';
    // Written while more is logged: at `warn` the line would be missing.
    if (level === 'debug') log.level = level;
    log.info({ logLevel: level }, 'log level changed');
    log.level = level;
  });
}
