/** What a check has found about one thing. */
export interface Finding {
  /** What was looked at: `event endpoint`. */
  readonly what: string;
  readonly mark: Mark;
  /** Without secrets. */
  readonly found: string;
  /** What to do; absent when all is well. */
  readonly todo?: string;
  /** Another machine does not answer, which may pass: no fault of the settings or credentials. */
  readonly isOutage?: boolean;
}

export type Mark = 'ok' | 'warning' | 'failure';

export const ok = (what: string, found: string): Finding => ({ what, mark: 'ok', found });

export const warning = (what: string, found: string, todo: string): Finding => ({
  what,
  mark: 'warning',
  found,
  todo,
});

export const failure = (what: string, found: string, todo: string): Finding => ({
  what,
  mark: 'failure',
  found,
  todo,
});

export const outage = (what: string, found: string, todo: string): Finding => ({
  ...failure(what, found, todo),
  isOutage: true,
});
