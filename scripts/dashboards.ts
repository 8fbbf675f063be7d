import { frontDoorDashboard } from './dashboards/frontDoor.ts';
import type { Dashboard, Panel } from './dashboards/panel.ts';
import { serviceDashboard } from './dashboards/service.ts';

/** Dashboards for Grafana, from declarations. */
export const dashboards = [serviceDashboard, frontDoorDashboard] as const;

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana
const datasource = { type: 'prometheus', uid: '${datasource}' };
const [columns, width, height] = [3, 8, 8];

const panelOf = ({ title, unit, queries }: Panel, index: number) => ({
  id: index + 1,
  type: 'timeseries',
  title,
  datasource,
  gridPos: { x: (index % columns) * width, y: Math.floor(index / columns) * height, w: width, h: height },
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
  targets: queries.map(([legendFormat, expr], at) => ({
    refId: String.fromCharCode(65 + at),
    ...{ datasource, expr, legendFormat },
  })),
});

/** The file of a dashboard: JSON that Grafana imports. */
const written = ({ uid, title, panels }: Dashboard): string =>
  `${JSON.stringify(
    {
      ...{ uid, title, tags: ['device-messaging'], schemaVersion: 39, editable: true, refresh: '30s' },
      time: { from: 'now-6h', to: 'now' },
      templating: {
        list: [{ name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus', current: {} }],
      },
      panels: panels.map(panelOf),
    },
    undefined,
    2,
  )}\n`;

/** The files by their paths. */
export const dashboardFiles: Readonly<Record<string, string>> = Object.fromEntries(
  dashboards.map((one) => [`deploy/monitoring/dashboards/${one.uid}.json`, written(one)]),
);
