import type { events as edgeEvents } from '../../edge/src/operations/events.ts';
import type { events } from '../../src/observing/events.ts';

/** What an operator is called for. The tables of the pages and the rules for Prometheus are written from these (D303). */
export interface Alert<Event extends string = string> {
  /** The name of its rule. */
  readonly id: string;
  /** `page`: now, at any hour. `ticket`: in working hours. */
  readonly severity: 'page' | 'ticket';
  /** Lines of the log, each of which means it. At least one of `events`, `metric` and `probe` is there. */
  readonly events?: readonly Event[];
  /** Only lines of this level. */
  readonly level?: 'warn' | 'error';
  /** The line that says that it is over. */
  readonly until?: Event;
  /** An expression of PromQL, which has a value while the trouble lasts. */
  readonly metric?: string;
  /** A health check that answers 503. */
  readonly probe?: '/readyz';
  /** How long the trouble has to last, as Prometheus writes it; at once when absent. */
  readonly for?: string;
  /** One sentence. */
  readonly means: string;
  /** One or more sentences, with links as the pages have them. */
  readonly todo: string;
  /** The chapter of docs/troubleshooting.md that says more, by its anchor; there with a metric. */
  readonly runbook?: string;
}

export type ServerAlert = Alert<keyof typeof events>;
export type EdgeAlert = Alert<keyof typeof edgeEvents>;

/** Why nobody is called for a line of level `error` or `fatal`. */
export type Unalerted<Event extends string> = Readonly<Partial<Record<Event, string>>>;
