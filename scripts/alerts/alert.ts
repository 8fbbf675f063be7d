import type { events as edgeEvents } from '../../edge/src/observing/log.ts';
import type { events } from '../../src/observing/events.ts';

/** What an operator is called for. The tables of the pages and the rules for Prometheus are written from these (D303). */
export interface Alert<Event extends string = string> {
  /** The name of its rule. */
  readonly id: string;
  /** `page`: now, at any hour. `ticket`: in working hours. */
  readonly severity: 'page' | 'ticket';
  /** An expression of PromQL, which has a value while the trouble lasts, with the labels `namespace` and `job` (D440). */
  readonly metric: string;
  /** How long the trouble has to last, as Prometheus writes it; at once when absent. */
  readonly for?: string;
  /** Lines of the log that say which trouble it is. */
  readonly events: readonly Event[];
  /** One sentence. */
  readonly means: string;
  /** One or more sentences, with links as the pages have them. */
  readonly todo: string;
  /** The chapter of docs/operations.md that says more, by its anchor. */
  readonly runbook: string;
}

export type ServerAlert = Alert<keyof typeof events>;
export type EdgeAlert = Alert<keyof typeof edgeEvents>;

/** Why nobody is called for a line of level `error` or `fatal`. */
export type Unalerted<Event extends string> = Readonly<Partial<Record<Event, string>>>;

/**
 * Whether a counter has increased. For Prometheus one that begins with its first error has not, and the error of a program that
 * makes no second one would be missed: so a series that was not there before counts, too (D389).
 */
export const increased = (series: string, range: string): string =>
  `(increase(${series}[${range}]) > 0 or (${series} unless ${series} offset ${range}) > 0)`;
