import type { Dashboard } from './panel.ts';

const quantile = (metric: string, labels: string, by = ''): string =>
  `histogram_quantile(0.95, sum by (${by}le) (rate(${metric}_bucket${labels}[5m])))`;

export const serviceDashboard: Dashboard = {
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
