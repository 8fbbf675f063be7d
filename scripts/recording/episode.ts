import type { HubRules } from 'iot-hub-emulator';
import type { Stage } from './stage.ts';

/** Scrapes before the trouble. */
export const goodScrapes = 12;

/** A good time, and a trouble that one or more alerts are for. */
export interface Episode {
  /** The alerts that have to fire before it is over; none of them does in the good time. */
  readonly fires: readonly string[];
  /** Metrics that are asked for besides those of its alerts. */
  readonly asks?: readonly string[];
  readonly job?: 'device-messaging' | 'device-messaging-methods';
  readonly store?: 'file' | 'blob';
  readonly environment?: Readonly<Record<string, string>>;
  readonly hubRules?: HubRules;
  /** How many scrapes the trouble lasts; default 24. */
  readonly scrapes?: number;
  /** How many devices send; default 2. */
  readonly devices?: number;
  /** Before the program starts. */
  before?(stage: Stage): Promise<void> | void;
  /** From the start to the end. */
  meanwhile?(stage: Stage): Promise<void>;
  trouble?(stage: Stage): Promise<void> | void;
}
