import { readFileSync } from 'node:fs';

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly {
    readonly title: string;
    /** `legendFormat` has labels in `{{…}}`. */
    readonly targets: readonly { readonly legendFormat: string; readonly expr: string }[];
  }[];
}

/** What Grafana is asked for. The files are edited in Grafana, or by hand. */
export const dashboards = ['device-messaging', 'device-messaging-methods'].map(
  (name): Dashboard => JSON.parse(readFileSync(`deploy/monitoring/dashboards/${name}.json`, 'utf8')),
);
