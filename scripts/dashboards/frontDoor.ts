import type { Dashboard } from './panel.ts';

export const frontDoorDashboard: Dashboard = {
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
