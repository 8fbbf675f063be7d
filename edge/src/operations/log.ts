import {
  createLog as createLogOf,
  type LogLevel,
  type Log as LogOf,
  type LogOptions,
} from '@device-messaging/telemetry/log.ts';
import { events } from './events.ts';

/** The log of the edge proxy. Each text is in the list of events. */
export type Log = LogOf<typeof events>;

/** @param destination standard output when omitted */
export const createLog = (
  level: LogLevel,
  destination?: Parameters<typeof createLogOf>[2],
  options?: LogOptions,
): Log => createLogOf(events, level, destination, options);
