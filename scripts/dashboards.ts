interface Panel {
  readonly title: string;
  /** As Grafana calls it. */
  readonly unit: 's' | 'short' | 'bytes' | 'reqps' | 'percentunit';
  /** PromQL by what a line is called, with labels in `{{…}}`. */
  readonly queries: readonly (readonly [legend: string, expression: string])[];
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}

const quantile = (metric: string, labels: string, by = ''): string =>
  `histogram_quantile(0.95, sum by (${by}le) (rate(${metric}_bucket${labels}[5m])))`;

const serviceDashboard: Dashboard = {
  uid: 'device-messaging',
  title: 'Device messaging service',
  panels: [
    {
      title: 'How far behind: age of the oldest event that is not done',
      unit: 's',
      queries: [
        [
          'partition {{messaging_destination_partition_id}}',
          'max by (messaging_destination_partition_id) (device_messaging_partition_behind_duration)',
        ],
      ],
    },
    {
      title: 'Messages handled, by result code',
      unit: 'short',
      queries: [
        [
          '{{device_messaging_code}}',
          'sum by (device_messaging_code) (rate(device_messaging_handled_messages_total[5m]))',
        ],
      ],
    },
    {
      title: 'Events read from the hub, by kind',
      unit: 'short',
      queries: [
        [
          '{{device_messaging_kind}}',
          'sum by (device_messaging_kind) (rate(messaging_client_consumed_messages_total[5m]))',
        ],
      ],
    },
    {
      title: 'Handling without waits, 95th percentile, by message',
      unit: 's',
      queries: [
        ['{{device_messaging_message}}', quantile('messaging_process_duration', '', 'device_messaging_message, ')],
      ],
    },
    {
      title: 'Where messages wait before they are handled, 95th percentile',
      unit: 's',
      queries: [
        ['in the hub', quantile('device_messaging_wait_duration', '{device_messaging_stage="hub"}')],
        [
          'behind others of their device',
          quantile('device_messaging_wait_duration', '{device_messaging_stage="lane"}'),
        ],
      ],
    },
    {
      title: 'Messages in memory',
      unit: 'short',
      queries: [
        ['{{device_messaging_place}}', 'sum by (device_messaging_place) (device_messaging_held_messages)'],
        ['may be in flight', 'sum(device_messaging_work_limit)'],
      ],
    },
    {
      title: 'Backends: 95th percentile of a request',
      unit: 's',
      queries: [
        ['{{device_messaging_backend}}', quantile('http_client_request_duration', '', 'device_messaging_backend, ')],
      ],
    },
    {
      title: 'Backends that are out',
      unit: 'short',
      queries: [['{{device_messaging_backend}}', 'max by (device_messaging_backend) (device_messaging_backend_out)']],
    },
    {
      title: 'Requests to backends that fail',
      unit: 'reqps',
      queries: [
        [
          '{{device_messaging_backend}} {{http_response_status_code}} {{error_type}}',
          'sum by (device_messaging_backend, http_response_status_code, error_type) (rate(http_client_request_duration_count{http_response_status_code!~"2..|404"}[5m]))',
        ],
      ],
    },
    {
      title: 'Replies, by what became of them',
      unit: 'short',
      queries: [
        ['{{device_messaging_result}}', 'sum by (device_messaging_result) (rate(device_messaging_replies_total[5m]))'],
      ],
    },
    {
      title: 'Replies that the hub has not settled',
      unit: 'short',
      queries: [
        ['{{device_messaging_place}}', 'sum by (device_messaging_place) (device_messaging_replies_unsettled)'],
        ['devices that do not fetch', 'sum(device_messaging_devices_not_fetching)'],
      ],
    },
    {
      title: 'Partitions that are read, by instance',
      unit: 'short',
      queries: [['{{instance}}', 'sum by (instance) (device_messaging_partitions{device_messaging_state="reading"})']],
    },
    {
      title: 'Dead letters in an hour',
      unit: 'short',
      queries: [
        [
          '{{device_messaging_result}}',
          'sum by (device_messaging_result) (increase(device_messaging_dead_letters_total[1h]))',
        ],
      ],
    },
    {
      title: 'Age of the oldest checkpoint that lacks something',
      unit: 's',
      queries: [['{{instance}}', 'max by (instance) (device_messaging_partition_checkpoint_duration)']],
    },
    {
      title: 'Requests to the stores that fail',
      unit: 'reqps',
      queries: [
        [
          '{{device_messaging_store}} {{error_type}}',
          'sum by (device_messaging_store, error_type) (rate(device_messaging_store_duration_count{error_type!=""}[5m]))',
        ],
      ],
    },
    { title: 'Memory', unit: 'bytes', queries: [['{{instance}}', 'sum by (instance) (process_memory_usage)']] },
    {
      title: 'Processor: cores in use',
      unit: 'percentunit',
      queries: [['{{instance}}', 'sum by (instance) (rate(process_cpu_time_total[5m]))']],
    },
    {
      title: 'Delay of the event loop, 99th percentile',
      unit: 's',
      queries: [['{{instance}}', 'max by (instance) (nodejs_eventloop_delay_p99)']],
    },
  ],
};

const frontDoorDashboard: Dashboard = {
  uid: 'device-messaging-methods',
  title: 'Front door of remote methods',
  panels: [
    {
      title: 'Invocations, by status',
      unit: 'reqps',
      queries: [
        [
          '{{http_response_status_code}}',
          'sum by (http_response_status_code) (rate(http_server_request_duration_count[5m]))',
        ],
      ],
    },
    {
      title: 'Invocations that fail, by reason',
      unit: 'reqps',
      queries: [
        ['{{error_type}}', 'sum by (error_type) (rate(http_server_request_duration_count{error_type!=""}[5m]))'],
      ],
    },
    {
      title: 'Duration of an invocation, 95th percentile',
      unit: 's',
      queries: [
        [
          '{{http_response_status_code}}',
          'histogram_quantile(0.95, sum by (http_response_status_code, le) (rate(http_server_request_duration_bucket[5m])))',
        ],
      ],
    },
    {
      title: 'Direct methods at the hub, by result',
      unit: 'reqps',
      queries: [['{{error_type}}', 'sum by (error_type) (rate(rpc_client_call_duration_count[5m]))']],
    },
    {
      title: 'Direct methods at the hub, 95th percentile',
      unit: 's',
      queries: [['all devices', 'histogram_quantile(0.95, sum by (le) (rate(rpc_client_call_duration_bucket[5m])))']],
    },
    {
      title: 'Backends: 95th percentile of a request',
      unit: 's',
      queries: [
        [
          '{{device_messaging_backend}}',
          'histogram_quantile(0.95, sum by (device_messaging_backend, le) (rate(http_client_request_duration_bucket[5m])))',
        ],
      ],
    },
    {
      title: 'Memory',
      unit: 'bytes',
      queries: [['{{instance}}', 'sum by (instance) (process_memory_usage{job=~".*methods.*"})']],
    },
    {
      title: 'Delay of the event loop, 99th percentile',
      unit: 's',
      queries: [['{{instance}}', 'max by (instance) (nodejs_eventloop_delay_p99{job=~".*methods.*"})']],
    },
  ],
};

export const dashboards = [serviceDashboard, frontDoorDashboard] as const;

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana
const datasource = { type: 'prometheus', uid: '${datasource}' };
const [columns, width, height] = [3, 8, 8];

const panelOf = ({ title, unit, queries }: Panel, index: number) => ({
  ...{ id: index + 1, type: 'timeseries', title, datasource },
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

export const dashboardFiles: Readonly<Record<string, string>> = Object.fromEntries(
  dashboards.map((one) => [`deploy/monitoring/dashboards/${one.uid}.json`, written(one)]),
);
