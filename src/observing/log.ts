import {
  createLog as createLogOf,
  type LogLines as LinesOf,
  type LogLevel,
  type Log as LogOf,
  type LogOptions,
} from 'telemetry/log.ts';
import { events } from './events.ts';

/** The part of the log that most modules need. Each text is in the list of events. */
export type LogLines = LinesOf<typeof events>;

/** The log of the service and the front door. The line of a message (G5) has no `event`. */
export type Log = LogOf<typeof events, 'handled'>;

/** @param destination standard output when omitted */
export const createLog = (
  level: LogLevel,
  destination?: Parameters<typeof createLogOf>[2],
  options?: LogOptions,
): Log => createLogOf(events, level, destination, options);
