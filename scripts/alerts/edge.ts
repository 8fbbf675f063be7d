import { type EdgeAlert, increased, type Unalerted } from './alert.ts';

/** A proxy. */
const each = 'by (namespace, job, instance)';
const peer = 'by (namespace, job, instance, device_messaging_peer)';
const connected = 'device_messaging_edge_connected';

const alerts: readonly Omit<EdgeAlert, 'runbook'>[] = [
  {
    ...{ id: 'EdgeDown', severity: 'page', for: '5m' },
    events: ['program.uncaught_exception', 'program.unhandled_rejection', 'program.not_started'],
    metric: `group ${each} (max_over_time(${connected}[1d])) unless group ${each} (${connected}) or max ${each} (resets(process_uptime[1h]) and on (namespace, job, instance) max_over_time(${connected}[1h])) > 2`,
    means: 'The proxy does not answer Prometheus, though it did in the last day, or ends again and again.',
    todo: 'Repair what `err` names, or the way to the device. An exception is a defect: report it.',
  },
  {
    ...{ id: 'EdgeDisconnected', severity: 'page', for: '5m' },
    events: ['hub.waiting', 'broker.waiting', 'hub.unstable', 'broker.unstable'],
    // The pauses of two proxies with one identity grow to a minute: then each opens five connections in ten.
    metric: `max ${peer} (${connected}) == 0 or sum ${peer} (increase(device_messaging_edge_connections_total{device_messaging_result="opened"}[15m])) > 5`,
    means:
      'The hub or the broker is away or refuses the proxy, or connections end again and again, because another program has the same identity or client id.',
    todo: '`reason` says why; give each program an identity of its own.',
  },
  {
    ...{ id: 'EdgeMethodsFail', severity: 'page' },
    events: ['broker.subscription_refused', 'module.folder_unusable', 'method.failed_unforeseen'],
    metric: `sum ${each} ${increased('rpc_server_call_duration_count{rpc_method="invokeMethod",error_type=~"broker_unavailable|folder_unavailable|internal_error"}', '10m')}`,
    means:
      'Methods of a module fail: the broker refuses its subscription, its folder cannot be used, or the proxy has a defect.',
    todo: 'Let the proxy subscribe to `topics_methods_out` of `module`; mend what `cause` says and restart the proxy; report `err`.',
  },
  {
    ...{ id: 'EdgeFaults', severity: 'ticket' },
    events: ['configuration.refused', 'module.replies_unknown', 'module.replies_retained', 'hub.response_lost'],
    metric: `max ${each} (device_messaging_edge_configuration_refused) == 1 or sum ${each} (${increased('device_messaging_edge_replies_dropped_total', '1h')} or ${increased('device_messaging_edge_responses_lost_total', '1h')})`,
    means:
      'The changed configuration has a fault, and a restart would fail; a module is too slow, or sends wrong or retained replies; or a response was lost with its connection.',
    todo: 'Repair the lines in `problems`, or the module; check the network.',
  },
];

export const edgeAlerts = alerts.map((alert): EdgeAlert => ({ ...alert, runbook: 'remote-methods-fail' }));

export const edgeUnalerted: Unalerted<string> = { 'program.not_stopped_cleanly': 'the process ends anyway' };
