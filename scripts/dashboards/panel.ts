/** A graph of a dashboard. */
export interface Panel {
  readonly title: string;
  /** As Grafana calls it. */
  readonly unit: 's' | 'short' | 'bytes' | 'reqps' | 'percentunit';
  /** PromQL by what a line is called, with labels in `{{…}}`. */
  readonly queries: readonly (readonly [legend: string, expression: string])[];
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}
